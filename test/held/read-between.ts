/**
 * A read must not change what is read, nor may it matter how long a turn is. This runner runs scenarios of this folder twice, the second
 * time with reads of the exporter's pages between any two requests to the API, and with long work that yields wherever it may. At the end
 * both have the same page, causes and log lines, and are equally ready.
 */
import { expect, type RunnerTestCase, TestRunner } from 'vitest';
import { Turns } from '../../src/turns.ts';
import { runs } from '../runs.ts';
import { beginRun, type Run } from './scenario.ts';
import type { Whole } from './whole.ts';

/** By day only those about what is derived, at night all. */
const isRepeated = runs(/\/test\/held\/(lacking|listings|readings|accounts|outages)\.test/, /\/test\/held\//);

/** Scenarios with more requests run once, and those where the reads in between would list more targets. */
const maxRequests = runs(30, 5000);
const maxListed = 200_000;

/** Of the process, and how long things took. */
const differs = /^(# (HELP|TYPE) )?(process_|nodejs_|\w+_(duration|lag)_seconds)/;

/** Over sockets, what is tried again depends on how long answers take. */
const differsOverSockets = /^bunnynet_exporter_(api_requests|polls)_total\{/;

/** The end of a run, without what differs from run to run. */
async function endOf(whole: Whole) {
  const { apiUrl, exporter, isInOrder, log, page } = whole;
  // Over sockets, answers come in any order, and so do the lines of the page that follow from them.
  const ordered = (lines: readonly string[]) => (isInOrder ? lines : lines.toSorted());
  const causes = exporter.causes().map(({ targets, listings, ...cause }) => ({
    ...cause,
    targets: targets.map(({ target }) => target.key).sort(),
    listings: listings.map(({ poll }) => poll.key).sort(),
  }));
  const { host } = new URL(apiUrl);
  const lines = log.map((line) =>
    JSON.stringify({ ...line, url: undefined }).replace(/(first round of polls took) [^:"]+/, '$1'),
  );
  const placeless = (text: string) => text.replaceAll(host, 'HOST').replaceAll(/\/tmp\/[^/"]+/g, 'FOLDER');
  const isSame = (row: string) => !differs.test(row) && (isInOrder || !differsOverSockets.test(row));
  return {
    // In a family, targets come in another order where the readings of several listings take turns.
    page: (await page()).split(/^(?=# HELP )/m).map((family) => family.split('\n').filter(isSame).toSorted()),
    causes: JSON.parse(placeless(JSON.stringify(causes))) as unknown,
    log: ordered(lines.map(placeless)),
    // Undefined once the exporter has stopped.
    readiness: await whole.get('/-/ready?strict').then(
      ({ body }) => body,
      () => undefined,
    ),
  };
}

async function endsOf({ wholes }: Run) {
  return await Promise.all(wholes.map(endOf));
}

/** Meanwhile, long work yields wherever it may. */
async function withShortTurns(body: () => unknown): Promise<void> {
  const isOver = Object.getOwnPropertyDescriptor(Turns.prototype, 'isOver') ?? {};
  Object.defineProperty(Turns.prototype, 'isOver', { ...isOver, get: () => true });
  try {
    await body();
  } finally {
    Object.defineProperty(Turns.prototype, 'isOver', isOver);
  }
}

// biome-ignore lint/style/noDefaultExport: as a runner has to be exported
export default class ReadBetween extends TestRunner {
  /** Those of the first run; undefined where it is not repeated. */
  #ends: Awaited<ReturnType<typeof endsOf>> | undefined;

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    // A scenario whose end depends on the machine says that it runs once.
    if (isRepeated.test(test.file.filepath)) test.repeats ??= 1;
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const body = TestRunner.getTestFn(test);
    const isAgain = test.result?.repeatCount === 1;
    if (isAgain && (!this.#ends || test.result?.state === 'fail')) return;
    const run = beginRun(isAgain);
    if (!isAgain) this.#ends = undefined;
    await (isAgain ? withShortTurns(body) : body());
    if (isAgain) {
      const ends = await endsOf(run);
      // Where only the reads could still start a server, there is nothing to compare.
      const told = ends.map((end, at) =>
        this.#ends?.[at]?.readiness === undefined ? { ...end, readiness: undefined } : end,
      );
      expect(told).toEqual(this.#ends);
      return;
    }
    if (!test.repeats) return;
    const requests = run.wholes.reduce((sum, whole) => sum + whole.requests.length, 0);
    const targets = run.wholes.reduce((sum, whole) => sum + whole.exporter.targets().length, 0);
    if (requests > 0 && requests <= maxRequests && requests * targets <= maxListed)
      this.#ends = await endsOf(run);
  }
}
