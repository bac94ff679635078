/** The whole program with only the account's key: what it finds, and what happens when listings change or fail. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { allKinds } from '../../src/simulator/dataset.ts';
import { targetsOf } from '../../src/simulator/everything.ts';
import { type Program, type ProgramOptions, readPage, startProgram } from '../simulator/program.ts';
import { kindNames, referenceKinds } from '../simulator/targets.ts';

async function start(options: ProgramOptions = {}): Promise<Program> {
  const program = await startProgram(options);
  onTestFinished(() => program.stop());
  return program;
}

/** `application/x7…`, with the name, of every target that the exporter has. */
function namesOf({ exporter }: Program): Record<string, string | undefined> {
  return Object.fromEntries(exporter.targets().map(({ target }) => [target.key, target.name]));
}

/** The same, from the simulator. */
function namesIn({ simulator, targets }: Program): Record<string, string | undefined> {
  const kinds = allKinds.filter(({ kind }) => targets[kind]);
  return Object.fromEntries(
    kinds.flatMap((kind) =>
      targetsOf(kind, simulator, false).map(({ ids, name }) => [
        `${kind.kind}/${Object.values(ids).join('/')}`,
        name,
      ]),
    ),
  );
}

function statesOf({ exporter }: Program): Record<string, string> {
  return Object.fromEntries(exporter.targets().map(({ target, state }) => [target.key, state]));
}

async function seriesOf({ exporter }: Program): Promise<readonly string[]> {
  const { text } = await readPage(exporter);
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^(#|bunnynet_exporter_|process_|nodejs_)/.test(line))
    .map((line) => line.slice(0, line.lastIndexOf(' ')))
    .toSorted();
}

async function pageOf({ exporter }: Program): Promise<string> {
  return (await readPage(exporter)).text;
}

/** The keys that appear in these texts or in the log. */
function leaked({ keys, logText }: Program, ...texts: readonly string[]): readonly string[] {
  return keys.filter((key) => [logText(), ...texts].some((text) => text.includes(key)));
}

const warnings = ({ log }: Program) => log.filter(({ level }) => level === 'warn');

describe('with one key', () => {
  it('finds and polls everything in the account, with its names', async () => {
    const program = await start({ kinds: kindNames, shape: { libraries: 2 } });
    expect(await program.exporter.pollOnce()).toBe(true);
    expect(namesOf(program)).toEqual(namesIn(program));
    expect(new Set(Object.values(statesOf(program)))).toEqual(new Set(['ok']));
    const { text } = await readPage(program.exporter);
    const { applications, zones, endpoints, videos } = program.simulator;
    expect(text).toContain(`{app_id="${applications[0]?.id}",name="${applications[0]?.name}"} 1`);
    expect(text).toContain(`name="${zones[0]?.name}",pull_zone_id="${zones[0]?.pullZoneId}"`);
    expect(text).toContain(`endpoint_id="${endpoints[0]?.id}",name="${endpoints[0]?.name}"} 1`);
    expect(text).toContain(`video_id="${videos[0]?.id}",name="${videos[0]?.name}"} 1`);
    expect(warnings(program)).toEqual([]);
  });

  it('finds nothing, without a failure, if the account has nothing', async () => {
    const shape = {
      applications: 0,
      zones: 0,
      endpoints: 0,
      rateLimitZones: 0,
      libraries: 0,
      videosPerLibrary: 0,
    };
    const program = await start({ shape });
    expect(await program.exporter.pollOnce()).toBe(true);
    expect(program.exporter.targets()).toEqual([]);
    expect(warnings(program)).toEqual([]);
  });

  it.each([3])('polls each target in exactly one of %i shards', async (count) => {
    const shape = {
      applications: 9,
      zones: 5,
      endpoints: 7,
      rateLimitZones: 4,
      libraries: 2,
      videosPerLibrary: 4,
    };
    const held: string[] = [];
    let expected: string[] = [];
    for (let index = 0; index < count; index++) {
      const program = await start({ shape, maxPageSize: 3, shard: { index, count } });
      expect(await program.exporter.pollOnce()).toBe(true);
      held.push(...Object.keys(namesOf(program)));
      expected = Object.keys(namesIn(program));
    }
    expect(held.toSorted()).toEqual(expected.toSorted());
  });
});

describe('a change in the account', () => {
  it('takes effect at once: a deleted target leaves with all its series, a new one is polled', async () => {
    const program = await start({ shape: { applications: 3, endpoints: 4, libraries: 2 } });
    const { exporter, simulator } = program;
    await exporter.pollOnce();
    const before = await seriesOf(program);
    for (const kind of referenceKinds) {
      const last = exporter.targets().findLast(({ target }) => target.kind === kind);
      const id = Object.values(last?.target.ids ?? {}).at(-1) ?? '';
      const bringBack = simulator.remove(id);
      // Everything of a zone leaves with it, once the listing of zones was read.
      expect(await exporter.pollOnce()).toBe(true);
      const isOfIt = (series: string) => series.includes(`="${id}"`);
      expect((await seriesOf(program)).filter(isOfIt), kind).toEqual([]);
      expect(await seriesOf(program)).toEqual(before.filter((series) => !isOfIt(series)));
      bringBack();
      await exporter.pollOnce();
      await expect.poll(() => seriesOf(program)).toEqual(before);
    }
  });

  it('of a name changes one series and nothing else', async () => {
    const program = await start();
    const { exporter, simulator } = program;
    await exporter.pollOnce();
    const { applications, zones, endpoints, videos } = simulator;
    for (const id of [applications[0]?.id, zones[0]?.pullZoneId, endpoints[0]?.id, videos[0]?.id]) {
      const before = await seriesOf(program);
      simulator.rename(id ?? '', 'POST /called/otherwise');
      await exporter.pollOnce();
      const moved = async () => {
        const after = await seriesOf(program);
        return [
          after.filter((series) => !before.includes(series)).length,
          before.filter((series) => !after.includes(series)).length,
        ];
      };
      await expect.poll(moved).toEqual([1, 1]);
      expect((await seriesOf(program)).filter((series) => series.includes('called/otherwise'))).toHaveLength(
        [applications, zones, endpoints, videos].findIndex((all) =>
          JSON.stringify(all[0]).includes(`"${id}"`),
        ) + 1,
      );
    }
    expect(warnings(program)).toEqual([]);
  });

  it('is believed and logged even if a complete listing is empty', async () => {
    const program = await start();
    const { exporter, simulator } = program;
    await exporter.pollOnce();
    for (const { id } of simulator.applications) simulator.remove(id);
    expect(await exporter.pollOnce()).toBe(true);
    expect(Object.keys(namesOf(program)).filter((key) => key.startsWith('application/'))).toEqual([]);
    expect((await pageOf(program)).includes('bunnynet_application_up{')).toBe(false);
    const [found, gone] = program.log.filter(({ kind, msg }) => kind === 'application' && /^[+−]/.test(msg));
    expect([found?.msg, gone?.msg]).toEqual(['+2 applications', '−2 applications']);
    // The message has the numbers.
    expect(Object.values(found ?? {})).not.toContain(2);
  });
});

describe("a library's own key", () => {
  it('opens its videos, goes to no other host and is shown nowhere', async () => {
    const program = await start({ shape: { libraries: 2 } });
    const { exporter, simulator } = program;
    simulator.inject({ type: 'secret-echo', kind: 'video_storage', count: 1 });
    await exporter.pollOnce();
    simulator.inject({ type: 'secret-echo', kind: 'video_storage_listing', count: 1 });
    await exporter.pollOnce();
    simulator.clearFaults();
    await exporter.pollOnce();
    expect(await exporter.pollOnce()).toBe(true);
    const asked = simulator.requests.map(({ path, key }) => `${path.startsWith('/video/')} ${key}`);
    expect(new Set(asked)).toEqual(new Set(['true library', 'false account']));
    const [url] = await exporter.start();
    const pages = await Promise.all(
      ['/', '/api/v1/targets', '/config', '/metrics'].map(
        async (path) => await (await fetch(url + path)).text(),
      ),
    );
    expect(leaked(program, ...pages)).toEqual([]);
  });
});

describe('a listing that fails', () => {
  it('for one parent does not affect the others', async () => {
    const program = await start({ shape: { libraries: 2, zones: 3, endpoints: 4 } });
    const { exporter, simulator } = program;
    const [refused = '', other = ''] = simulator.libraryIds;
    simulator.inject({ type: 'status-401', kind: 'video_storage_listing', target: refused });
    expect(await exporter.pollOnce()).toBe(false);
    const videos = Object.keys(namesOf(program)).filter((key) => key.startsWith('video_storage/'));
    expect(videos).toEqual(Object.keys(namesIn(program)).filter((key) => key.includes(`/${other}/`)));
    expect(new Set(Object.values(statesOf(program)))).toEqual(new Set(['ok']));
    expect(warnings(program)).toEqual([
      expect.objectContaining({ kind: 'video_storage', result: 'auth', credential: `library/${refused}` }),
    ]);
    simulator.clearFaults();
    await exporter.pollOnce();
    await expect.poll(() => namesOf(program)).toEqual(namesIn(program));
  });
});
