/**
 * The expected outcome of each fault of the simulator, as data: how the poll is counted, how often the API is asked and
 * what stays on the page. A fault without an entry does not compile, and fails the matrix.
 */
import type { PollResult } from '../../src/api/errors.ts';
import type { AnyOperation, OperationName } from '../../src/simulator/dataset.ts';
import type { FaultParameters, FaultType } from '../../src/simulator/faults.ts';
import { problemDetails, videoEnvelope } from '../../src/simulator/forms.ts';
import { isPaged } from '../../src/simulator/kind.ts';
import { operationOf } from '../simulator/addresses.ts';

export interface Outcome {
  /** The label that the poll is counted under. */
  readonly result: PollResult;
  /** The poll retries `max_retries` times. */
  readonly retried?: boolean;
  /** The requests of the poll, if they are neither one page nor the pages of the good answer. */
  readonly requests?: number;
  /** The whole API is paused. */
  readonly pauses?: boolean;
  /** The target is asked less and less often. */
  readonly lasts?: boolean;
  /** A success that lacks some series. */
  readonly loses?: boolean;
  /** A success that shows wrong values, because the API sent them. */
  readonly alters?: boolean;
  /** Fields of the wrong type are counted. */
  readonly mismatches?: boolean;
  /** Values that the reference does not list are counted. */
  readonly unrecognized?: boolean;
  /** The number of zones missing from a listing that looks complete. */
  readonly absent?: number;
}

export interface Expectation extends Outcome {
  /** Parameters of the fault. */
  readonly parameters?: FaultParameters;
  /** What differs for some operations. */
  readonly where?: readonly (readonly [(operation: AnyOperation) => boolean, Partial<Outcome>])[];
}

const isList = ({ traits }: AnyOperation) => traits.ids !== undefined;
const isPagedList = (operation: AnyOperation) => isPaged(operation);
const hasStates = ({ traits }: AnyOperation) => traits.status === true;
const hasCodes = ({ traits }: AnyOperation) => traits.codes !== undefined;
const hasCharts = ({ traits }: AnyOperation) => traits.charts !== undefined;

const right: Expectation = { result: 'success' };
const timeout: Expectation = { result: 'timeout', retried: true };
const network: Expectation = { result: 'network', retried: true };
const serverError: Expectation = { result: 'server_error', retried: true };
const rateLimited: Expectation = { result: 'rate_limited', retried: true, pauses: true };
const refused: Expectation = { result: 'auth', lasts: true };
const rejected: Expectation = { result: 'rejected' };
const unreadable: Expectation = { result: 'schema' };
// Smaller pages are asked for: of 100, 50, 25 and 5.
const tooLarge: Expectation = { ...unreadable, where: [[isPagedList, { requests: 4 }]] };
const parameters: FaultParameters = { retryAfterSeconds: 1 };

export const expectations: Readonly<Record<FaultType, Expectation>> = {
  latency: { ...right, parameters: { latencyMs: 50 } },
  hang: timeout,
  'hang-before-body': timeout,
  'hang-in-body': timeout,
  trickle: timeout,
  reset: network,
  'early-close': network,
  'endless-body': tooLarge,
  'tls-error': network,

  'status-400': rejected,
  'status-401': refused,
  'status-403': refused,
  'status-404': { result: 'not_found', lasts: true },
  'status-408': timeout,
  'status-429': rateLimited,
  'status-429-retry-seconds': { ...rateLimited, parameters },
  'status-429-retry-date': { ...rateLimited, parameters },
  'status-429-retry-unreadable': rateLimited,
  'status-500': serverError,
  'status-500-empty': serverError,
  'status-502-html': serverError,
  'status-503': serverError,
  'status-503-retry-seconds': { ...serverError, parameters },
  'status-504': serverError,
  redirect: rejected,

  'rejected-200': rejected,
  'rejected-202': rejected,
  'zone-not-found': { ...rejected, lasts: true },
  'no-rate-limits': { ...right, loses: true },
  'feature-not-on-plan': { ...rejected, lasts: true },
  // The API Guardian answer has an empty error envelope, so it failed without a reason.
  // A null instead of a list without pages is an empty list.
  'data-null': {
    ...unreadable,
    where: [
      [({ name }) => name === 'api_guardian', { result: 'rejected' }],
      [({ name }) => name === 'rate_limit', { result: 'success', loses: true }],
    ],
  },

  'nothing-listed': {
    ...right,
    loses: true,
    where: [[isPagedList, { requests: 1, alters: true, absent: 3 }]],
  },

  'empty-body': unreadable,
  html: unreadable,
  'plain-text': unreadable,
  'json-null': unreadable,
  'truncated-json': unreadable,
  'json-as-text': right,
  gzip: right,
  brotli: right,
  'wrong-coding': unreadable,
  'gzip-bomb': { ...tooLarge, parameters: { decodedBytes: 4_000_000 } },
  'deep-nesting': unreadable,
  'duplicate-keys': right,

  // An invalid state counts as unknown.
  'wrong-types': { ...right, loses: true, mismatches: true, where: [[hasStates, { alters: true }]] },
  'wrong-shapes': unreadable,
  'all-null': { ...right, loses: true },
  // A list still has its ids.
  'all-missing': { ...unreadable, where: [[isList, { result: 'success', loses: true }]] },
  'huge-numbers': {
    ...right,
    loses: true,
    alters: true,
    mismatches: true,
    where: [[hasCodes, { unrecognized: true }]],
  },
  'negative-numbers': {
    ...right,
    alters: true,
    where: [[hasCodes, { mismatches: true, unrecognized: true }]],
  },
  'integers-as-doubles': right,
  // A chart uses its readable points.
  'number-strings': { ...right, loses: true, mismatches: true, where: [[hasCharts, { alters: true }]] },
  'duplicate-ids': { ...right, alters: true, where: [[hasCodes, { unrecognized: true }]] },
  // A page of one entry has nothing usable left.
  'entry-without-id': {
    ...right,
    loses: true,
    mismatches: true,
    where: [[isPagedList, { ...unreadable, loses: false }]],
  },
  'hostile-names': { ...right, alters: true },
  'unknown-values': { ...right, alters: true, unrecognized: true },
  'capitalised-status': right,
  'mixed-day-keys': right,
  'unreadable-times': { ...right, loses: true, mismatches: true },
  'extra-fields': right,

  'page-repeats': { ...unreadable, requests: 2 },
  'page-shrinks': { ...unreadable, requests: 2 },
  'page-never-ends': { ...unreadable, requests: 4 },
  'page-fails': { ...serverError, requests: 3 },
  // Three pages and an empty last one.
  'page-missing': { ...right, requests: 4 },
  'page-without-fields': { ...right, requests: 4 },
  'page-zeros': { ...right, requests: 4 },
  'page-announced': { ...right, requests: 4 },
  'page-entries-move': { ...unreadable, requests: 3 },
  'page-counts-too-many': { ...unreadable, requests: 3 },
  'page-counts-too-few': right,
  'page-says-last': { ...unreadable, requests: 1 },
  'page-invents': { ...unreadable, requests: 1000 },

  'secret-echo': {
    ...rejected,
    where: [
      [({ form }) => form === problemDetails, { result: 'server_error', retried: true }],
      [({ form }) => form === videoEnvelope, { result: 'auth', lasts: true }],
    ],
  },
  'set-cookie': right,
};

export function outcomeOf(type: FaultType, name: OperationName): Outcome {
  const { where = [], parameters: _, ...outcome } = expectations[type];
  const differing = where.filter(([applies]) => applies(operationOf(name)));
  return Object.assign(outcome, ...differing.map(([, differs]) => differs)) as Outcome;
}
