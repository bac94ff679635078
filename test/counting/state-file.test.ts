import {
  chmodSync,
  lstatSync,
  mkdirSync,
  promises,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readReplaced, readState, stateProblem, writeState } from '../../src/counting/state-file.ts';
import { type StateHead, stateVersion, type TargetState } from '../../src/counting/state-form.ts';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';

const nowMs = 1_795_834_410_123;
const head: StateHead = {
  version: stateVersion,
  writer: 'a',
  written_by: 'exporter',
  written_at: 1_795_834_410,
};

function zone(id: number): TargetState {
  const day = 1_795_824_000;
  return {
    kind: 'dns_zone',
    ids: { dns_zone_id: String(id) },
    base_url: 'https://api.bunny.net',
    account: 'account',
    last_read: day + 600.25,
    counting_since: day,
    counters: {
      bunnynet_dns_zone_queries_total: {
        series: [{ labels: {}, value: 12.5, from: day, days: [[day, 100]] }],
      },
      bunnynet_dns_zone_queries_by_type_total: {
        series: [{ labels: { type: 'a "quoted" type, of\ntwo lines' }, value: 3, from: day, days: [] }],
        rest: { value: 7, from: day, days: [[day, 7]] },
      },
    },
  };
}

const isRoot = process.getuid?.() === 0;

it('what is written is read again, a line for each target, and only its owner may read it', async () => {
  const folder = temporary({});
  const path = join(folder, 'state.json');
  const targets = [1, 2, 3].map(zone);
  await writeState(path, head, targets);
  expect(await readState(path, nowMs)).toEqual({ state: { ...head, targets } });
  expect((await readReplaced(path))?.head).toEqual(head);
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines.filter((line) => line.includes('dns_zone_id'))).toHaveLength(3);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await writeState(path, head, []);
  expect(await readState(path, nowMs)).toEqual({ state: { ...head, targets: [] } });
  expect(readdirSync(folder)).toEqual(['state.json']);
});

it('a large state is written while others have their turn', async () => {
  const path = join(temporary({}), 'state.json');
  let turns = 0;
  const turn = () => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  // By day few large ones, of which each takes a turn of the event loop, however fast the machine is.
  const count = runs(14, 5000);
  const takesMs = runs(5, 0);
  const base_url = `https://api.bunny.net/${'x'.repeat(runs(20_000, 0))}`;
  const turnsOfTargets = new Set<number>();
  function* targets() {
    for (let id = 0; id < count; id++) {
      const endsAtMs = performance.now() + takesMs;
      while (performance.now() < endsAtMs);
      turnsOfTargets.add(turns);
      yield { ...zone(id), base_url };
    }
  }
  await writeState(path, head, targets());
  clearImmediate(next);
  expect(turnsOfTargets.size).toBeGreaterThan(10);
  expect((await readState(path, nowMs)).state?.targets).toHaveLength(count);
});

it('a state is read one target after another: all of it at once takes twice the memory', async () => {
  const path = join(temporary({}), 'state.json');
  await writeState(path, head, [1, 2, 3].map(zone));
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  await readState(path, nowMs);
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length));
  expect(longest).toBeLessThan(statSync(path).size / 2);
});

it('a first start has no file', async () => {
  const folder = temporary({});
  expect(await readState(join(folder, 'state.json'), nowMs)).toEqual({ state: undefined });
  expect(await readReplaced(join(folder, 'state.json'))).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

describe('a file that is no state', () => {
  it.each([
    ['cut off', (text: string) => text.slice(0, -40), 'it is cut off'],
    ['of a newer version', (text: string) => text.replace('"version":1', '"version":2'), 'a newer version'],
    ['the beginning of one', () => '{ "version": 1 }', 'it is not a state: writer'],
    [
      'changed by hand',
      (text: string) => text.replace('12.5', '"many"'),
      'targets.0.counters.bunnynet_dns_zone_queries_total.series.0.value',
    ],
    ['negative', (text: string) => text.replace('12.5', '-12.5'), 'it is not a state'],
  ])('is kept under another name if it is %s', async (_, spoil, why) => {
    const folder = temporary({});
    const path = join(folder, 'state.json');
    await writeState(path, head, [zone(1)]);
    const text = spoil(readFileSync(path, 'utf8'));
    writeFileSync(path, text);
    const { state, problem } = await readState(path, nowMs);
    expect(state).toBeUndefined();
    expect(problem).toContain(why);
    expect(problem).toContain(`${path}.bad-1795834410`);
    expect(readdirSync(folder)).toEqual(['state.json.bad-1795834410']);
    expect(readFileSync(`${path}.bad-1795834410`, 'utf8')).toBe(text);
  });
});

describe('a file that does not begin like a state', () => {
  it.each([
    ['a key', 'e9f1c2d3-0000-4a5b-secret\n'],
    ['other JSON', '{"secret":"thing"}'],
  ])('is left as it is if it is %s, and nothing of it is said', async (_, text) => {
    const folder = temporary({ key: text });
    const path = join(folder, 'key');
    const read = readState(path, nowMs);
    await expect(read).rejects.toThrow(`the file ${path} is no state`);
    await expect(read).rejects.not.toThrow('secret');
    await expect(readReplaced(path)).rejects.toThrow('is left as it is');
    expect(readdirSync(folder)).toEqual(['key']);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('is as none if it is empty: it was made for the state', async () => {
    const folder = temporary({ 'state.json': '' });
    const path = join(folder, 'state.json');
    expect(await readState(path, nowMs)).toEqual({ state: undefined });
    expect(await readReplaced(path)).toBeUndefined();
    expect(readdirSync(folder)).toEqual(['state.json']);
  });
});

describe('a path that is a symbolic link', () => {
  it('is checked as it is followed', async () => {
    const folder = temporary({});
    mkdirSync(join(folder, 'disk', 'volume'), { recursive: true });
    symlinkSync(join(folder, 'disk', 'volume'), join(folder, 'current'));
    mkdirSync(join(folder, 'disk', 'data'));
    symlinkSync('../data/state.json', join(folder, 'disk', 'volume', 'state.json'));
    expect(await stateProblem(join(folder, 'current', 'state.json'))).toBeUndefined();
    symlinkSync('../none/state.json', join(folder, 'disk', 'volume', 'other.json'));
    expect(await stateProblem(join(folder, 'current', 'other.json'))).toBe(
      `its folder ${join(folder, 'disk', 'none')} is not there: make it`,
    );
  });

  it('is followed from the folder that it is in, which may be behind another link', async () => {
    const folder = temporary({});
    mkdirSync(join(folder, 'disk', 'volume'), { recursive: true });
    mkdirSync(join(folder, 'etc'));
    symlinkSync(join(folder, 'disk', 'volume'), join(folder, 'etc', 'current'));
    symlinkSync('../state.json', join(folder, 'disk', 'volume', 'state.json'));
    await writeState(join(folder, 'etc', 'current', 'state.json'), head, []);
    expect(readdirSync(join(folder, 'disk'))).toContain('state.json');
    expect(readdirSync(join(folder, 'etc'))).toEqual(['current']);
  });

  it.each([
    ['to a state', true],
    ['to a file that is not there yet', false],
  ])('%s stays one: what it points to is replaced', async (_, isThere) => {
    const folder = temporary({});
    const disk = temporary({});
    const path = join(folder, 'state.json');
    symlinkSync('second', path);
    symlinkSync(join(disk, 'state'), join(folder, 'second'));
    if (isThere) await writeState(join(disk, 'state'), head, [zone(1)]);
    await writeState(path, head, [zone(2)]);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readdirSync(disk)).toEqual(['state']);
    expect((await readState(path, nowMs)).state?.targets).toEqual([zone(2)]);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -40));
    expect((await readState(path, nowMs)).problem).toContain(`${join(disk, 'state')}.bad-`);
  });

  it('to a disk that is not mounted is an error, and no file takes its place', async () => {
    const folder = temporary({});
    const path = join(folder, 'state.json');
    symlinkSync(join(folder, 'disk', 'state.json'), path);
    await expect(writeState(path, head, [])).rejects.toThrow('does not exist: create it');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
  });
});

it('a draft that another exporter removes at its start is an error that says so', async () => {
  const folder = temporary({});
  const path = join(folder, 'state.json');
  await writeState(path, head, [zone(1)]);
  function* started() {
    yield zone(2);
    for (const name of readdirSync(folder)) if (name !== 'state.json') rmSync(join(folder, name));
  }
  await expect(writeState(path, head, started())).rejects.toThrow(
    'perhaps another exporter that was started with this file',
  );
  expect((await readState(path, nowMs)).state?.targets).toEqual([zone(1)]);
});

describe('a file that cannot be read', () => {
  it('is an error that says that it is a directory, and not whose', async () => {
    const folder = temporary({});
    mkdirSync(join(folder, 'state.json'));
    const read = readState(join(folder, 'state.json'), nowMs);
    await expect(read).rejects.toThrow(/it is a directory\. Name a file for the state, .* yet$/);
  });

  // The memory of a process has nothing at its start.
  it.runIf(process.platform === 'linux')('is an error after an error of input, too', async () => {
    await expect(readState('/proc/self/mem', nowMs)).rejects.toThrow('EIO');
  });

  it.skipIf(isRoot)('is a problem of a check if its folder is of another user', async () => {
    const folder = temporary({});
    chmodSync(folder, 0o500);
    expect(await stateProblem(join(folder, 'state.json'))).toContain('EACCES');
  });

  it.skipIf(isRoot)('is an error if another user has it', async () => {
    const path = join(temporary({ 'state.json': '' }), 'state.json');
    chmodSync(path, 0);
    await expect(readState(path, nowMs)).rejects.toThrow('EACCES');
  });
});

describe('a write that fails', () => {
  it('says which folder is missing', async () => {
    const path = join(temporary({}), 'missing', 'state.json');
    await expect(writeState(path, head, [])).rejects.toThrow(`${path} cannot be written: the folder`);
  });

  it('leaves the state before, and no draft', async () => {
    const folder = temporary({});
    const path = join(folder, 'state.json');
    await writeState(path, head, [zone(1)]);
    function* broken() {
      yield zone(2);
      throw new Error('no room');
    }
    await expect(writeState(path, head, broken())).rejects.toThrow('no room');
    expect((await readState(path, nowMs)).state?.targets).toEqual([zone(1)]);
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  const failing = (code: string) => Object.assign(new Error(`${code}: what the system says`), { code });

  it('says that the disk is full', async () => {
    const folder = temporary({ any: '' });
    const any = await promises.open(join(folder, 'any'));
    const append = vi.spyOn(Object.getPrototypeOf(any) as typeof any, 'appendFile');
    onTestFinished(() => append.mockRestore());
    await any.close();
    append.mockRejectedValueOnce(failing('ENOSPC'));
    await expect(writeState(join(folder, 'state.json'), head, [zone(1)])).rejects.toThrow('ENOSPC');
    expect(readdirSync(folder)).toEqual(['any']);
  });

  it('says that a single file is mounted, and what to mount', async () => {
    const folder = temporary({ 'state.json': '' });
    const rename = vi.spyOn(promises, 'rename').mockRejectedValueOnce(failing('EBUSY'));
    syncBuiltinESMExports();
    onTestFinished(() => {
      rename.mockRestore();
      syncBuiltinESMExports();
    });
    await expect(writeState(join(folder, 'state.json'), head, [])).rejects.toThrow(
      /EBUSY.*mounted as a single file.*mount its folder/,
    );
    expect(readdirSync(folder)).toEqual(['state.json']);
  });
});

it('a draft has a new name each time', async () => {
  const folder = temporary({});
  const names = new Set<string>();
  function* looking() {
    for (const name of readdirSync(folder)) if (name.includes('.tmp-')) names.add(name);
    yield zone(1);
  }
  for (let n = 0; n < 2; n++) await writeState(join(folder, 'state.json'), head, looking());
  expect(names.size).toBe(2);
});

it('a start removes the drafts of processes that were killed', async () => {
  const folder = temporary({ 'state.json.tmp-b': '{', 'other.json.tmp-b': '' });
  const path = join(folder, 'state.json');
  await writeState(path, head, []);
  await readState(path, nowMs);
  expect(readdirSync(folder).toSorted()).toEqual(['other.json.tmp-b', 'state.json']);
});
