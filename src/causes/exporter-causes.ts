/**
 * What is wrong with the exporter itself and its configuration: a refused reload, the same key twice, a key that can no longer be read, a
 * state that is not written, what two accounts list, a pace that is too low, drift.
 */
import { count, plural } from '../text.ts';
import { adviceOn, type Reason } from './advice.ts';
import type { Cause, CauseInput, DriftedField } from './cause.ts';

const shownFields = 5;

/** What differs where another writer is why the state is not written. */
const otherWriters = {
  exporter: { title: 'Another process writes the state file' },
  backfill: { title: 'A history was written to the state file', advice: 'Restart the exporter.' },
} as const;

/** keySource: where a key comes from, as in {@link CauseInput}. */
export function sameKeyTitle(
  { account, other }: CauseInput['exporter']['sameKeys'][number],
  keySource: CauseInput['keySource'],
): string {
  return `The account ${account} is not read: its key (${keySource(account)}) is that of ${other} (${keySource(other)})`;
}

/** The causes that no target and no listing has. */
export function exporterCauses({ exporter, keySource, nowMs }: CauseInput): readonly Cause[] {
  const { refusedReload, capacities, schemaDrift, shared, sameKeys, formerKeys, state } = exporter;
  const nothing = {
    affected: '',
    targets: [],
    listings: [],
    filter: { kinds: [], states: [], text: '' },
  } as const;
  const causes: Cause[] = [];
  const add = (
    reason: Reason,
    id: string,
    sinceMs: number | undefined,
    title: string,
    meaning: string,
    other?: Partial<Pick<Cause, 'title' | 'advice'>>,
  ) =>
    causes.push({
      ...nothing,
      ...adviceOn(reason),
      id,
      reason,
      // The wall clock may have been set back since.
      sinceMs: sinceMs && Math.min(sinceMs, nowMs),
      title,
      meaning,
      ...other,
    });
  if (refusedReload) {
    const { atMs, message } = refusedReload;
    add(
      'reload',
      'reload',
      atMs,
      'The reload failed',
      `The previous configuration is still in use.\n${message}`,
    );
  }
  for (const same of sameKeys) {
    const { account, other } = same;
    add(
      'same_key',
      `same key ${account}`,
      undefined,
      sameKeyTitle(same, keySource),
      `What this key reads has \`account="${other}"\`; nothing has \`account="${account}"\`.`,
    );
  }
  for (const { credential, problem } of formerKeys)
    add(
      'former_key',
      `former key ${credential}`,
      undefined,
      `The key of ${credential} can no longer be read: ${problem}`,
      'The last readable one stays in use.',
    );
  if (state)
    add(
      'state',
      `state ${state.writtenBy ?? 'unwritten'}`,
      state.sinceMs,
      'The state file cannot be written',
      `Counters are right now. After a restart those that began since the last write would begin anew; the others count what came since by the figures of the days.\n${state.message.replace(/\.$/, '')}.`,
      state.writtenBy && otherWriters[state.writtenBy],
    );
  for (const { account, other, keys } of shared)
    add(
      'shared',
      `shared ${account} ${other}`,
      undefined,
      `The accounts ${account} and ${other} both list ${plural(keys.length, 'target')}`,
      `${keys.length === 1 ? 'It is' : 'They are'} read with the key of ${account}, and ${keys.length === 1 ? 'has' : 'have'} \`account="${account}"\`.`,
    );
  for (const { api, shortfall } of capacities)
    if (shortfall !== undefined)
      add(
        'pace',
        `pace ${api}`,
        undefined,
        `The request rate of the ${api} API is too low for the targets`,
        `${shortfall}.`,
      );
  const addDrift = (id: string, title: string, consequence: string, fields: readonly DriftedField[]) => {
    if (fields.length === 0) return;
    const shown = fields.slice(0, shownFields).map(({ kind, field, value, count: n }) => {
      const what = value === undefined ? field : `${field}: ${value}`;
      return `${kind} ${what} (${plural(n, 'time')})`;
    });
    const more = fields.length > shown.length ? ` and ${count(fields.length - shown.length)} more` : '';
    const sinceMs = fields.reduce((first, field) => Math.min(first, field.sinceMs), nowMs);
    add('drift', id, sinceMs, title, `${consequence}\n${shown.join('\n')}${more}`);
  };
  addDrift(
    'drift fields',
    'The API sends fields of another type than expected',
    'Their series are left out, and sums over them are too small.',
    schemaDrift.filter(({ value }) => value === undefined),
  );
  addDrift(
    'drift values',
    'The API sends values that this version does not know',
    'A code is exported as its number; a state counts as unknown, or is left out.',
    schemaDrift.filter(({ value }) => value !== undefined),
  );
  return causes;
}
