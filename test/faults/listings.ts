/**
 * Plays every fault on every listing that is not a kind, all listings of a fault together, in programs that find
 * everything from one key, and records what happens to their targets. It checks nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { type OperationName, operations } from '../../src/simulator/dataset.ts';
import { type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import { referenceKinds } from '../simulator/targets.ts';
import { expectations } from './expectations.ts';
import { type Program, pollAll, readPage, startProgram } from './program.ts';

/** Listings that find targets but are not readings. */
export const listings: readonly OperationName[] = operations
  .map(({ name }) => name)
  .filter((name) => referenceKinds.some((kind) => name === `${kind}_listing`));

/** The outcome of one poll of one listing. */
export interface Listed {
  /** The results of the failed polls of the listing, each once and in order. */
  readonly failures: readonly string[];
  readonly reasons: readonly string[];
}

export interface Round {
  readonly listings: Readonly<Record<string, Listed>>;
  /** Every target with its name. */
  readonly names: Readonly<Record<string, string | undefined>>;
  readonly allHealthy: boolean;
  /** The values of the API on the page, without times. */
  readonly series: readonly string[];
}

export interface ListingObservation {
  readonly type: FaultType;
  /** The listings that the fault strikes. */
  readonly struck: readonly OperationName[];
  readonly before: Round;
  readonly during: Round;
  readonly after: Round;
  readonly leaked: boolean;
}

/** How many programs share the quick faults. */
const programs = 4;

/** Every fault that can happen to a listing: one after the other within a program, programs in parallel. */
export async function observeListings(): Promise<ReadonlyMap<FaultType, ListingObservation>> {
  const types = (Object.keys(faultTypes) as FaultType[]).filter((type) => struckBy(type).length > 0);
  const isSlow = (type: FaultType) => /^hang|^trickle$/.test(type);
  const quick = types.filter((type) => !isSlow(type));
  const groups = [
    ...types.filter(isSlow).map((type) => [type]),
    ...Array.from({ length: programs }, (_, i) => quick.filter((_type, at) => at % programs === i)),
  ];
  const observed = await Promise.all(groups.map((group) => observeGroup(group, group.some(isSlow))));
  return new Map(observed.flat().map((one) => [one.type, one]));
}

export function struckBy(type: FaultType): readonly OperationName[] {
  return listings.filter((name) => faultTypes[type].appliesTo.includes(name));
}

async function observeGroup(
  types: readonly FaultType[],
  givesUp: boolean,
): Promise<readonly ListingObservation[]> {
  const timeoutMs = { application: 4000, shield: 4000, core: 4000, video: 4000 };
  const program = await startProgram({
    shape: {
      applications: 3,
      endpoints: 6,
      rateLimitZones: 1,
      rulesPerZone: 3,
      libraries: 1,
      videosPerLibrary: 3,
    },
    maxPageSize: 2,
    ...(givesUp && { timeoutMs }),
  });
  try {
    const observations: ListingObservation[] = [];
    let before = await settled(program, await round(program));
    for (const type of types) {
      const struck = struckBy(type);
      program.simulator.inject({ type, kind: struck, ...expectations[type].parameters });
      const during = await round(program);
      program.simulator.clearFaults();
      const after = await round(program);
      const texts = [program.logText(), (await readPage(program.exporter)).text];
      const leaked = texts.some((text) => program.keys.some((key) => text.includes(key)));
      observations.push({ type, struck, before, during, after, leaked });
      before = isDeepStrictEqual(after.series, before.series) ? after : await settled(program, after);
    }
    return observations;
  } finally {
    await program.stop();
  }
}

/** Polls until two rounds agree: targets that come back get their names only with a later poll. */
async function settled(program: Program, first: Round): Promise<Round> {
  let last = first;
  for (let rounds = 0; rounds < 10; rounds++) {
    const next = await round(program);
    if (isDeepStrictEqual(next.series, last.series)) return next;
    last = next;
  }
  throw new Error('the page is another after each round');
}

async function round({ exporter }: Program): Promise<Round> {
  const allHealthy = await pollAll(exporter);
  const { text } = await readPage(exporter);
  return {
    listings: Object.fromEntries(
      listings.map((name) => {
        const own = exporter
          .listings()
          .filter(({ poll }) => name === `${poll.kind}_listing`)
          .flatMap(({ lastFailure }) => lastFailure ?? []);
        return [
          name,
          {
            failures: [...new Set(own.map(({ result }) => result))].toSorted(),
            reasons: [...new Set(own.map(({ message }) => message))],
          },
        ];
      }),
    ),
    names: Object.fromEntries(exporter.targets().map(({ target }) => [target.key, target.name])),
    allHealthy,
    series: text
      .split('\n')
      .filter((line) => !/^(#|$|bunnynet_exporter_|process_|nodejs_)|_last_success_/.test(line))
      .toSorted(),
  };
}
