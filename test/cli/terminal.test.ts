import { describe, expect, it } from 'vitest';
import { causesOf } from '../../src/causes/causes.ts';
import { prettyLine } from '../../src/cli/pretty-log.ts';
import { colours, ProgressLine, plain, pollReport, styleFor } from '../../src/cli/terminal.ts';
import type { ListingStatus } from '../../src/polling/listing-status.ts';
import type { TargetStatus } from '../../src/polling/target-task.ts';
import { causeInput, failing, listing, nowMs, refusedListing, status } from '../status/fixtures.ts';

/** A terminal that records what was written, with readable escape sequences. */
function recorder(columns = 40) {
  let written = '';
  return {
    columns,
    isTTY: true,
    write(text: string) {
      written += text;
    },
    written: () => written.replaceAll('\r\u001B[K', '⟲'),
  };
}

describe('colours', () => {
  it('are used on terminals that have them, unless NO_COLOR is set', () => {
    expect(styleFor({ isTTY: true }, { TERM: 'xterm' })).toBe(colours);
    expect(styleFor({ isTTY: true }, { TERM: 'xterm', NO_COLOR: '1' })).toBe(plain);
    expect(styleFor({ isTTY: true }, { TERM: 'dumb' })).toBe(plain);
    expect(styleFor({}, { TERM: 'xterm' })).toBe(plain);
  });
});

describe('the line of progress', () => {
  it('is drawn over itself, and other output appears above it', () => {
    const terminal = recorder();
    const line = new ProgressLine(terminal);
    line.write('before\n');
    line.show('1 of 3');
    line.show('1 of 3');
    line.show('2 of 3');
    line.write('a log line\n');
    line.clear();
    line.clear();
    line.write('after\n');
    expect(terminal.written()).toBe('before\n⟲1 of 3⟲2 of 3⟲a log line\n2 of 3⟲after\n');
  });

  it('is never wider than the terminal', () => {
    const narrow = recorder(10);
    new ProgressLine(narrow).show('polled 12 of 36 targets');
    expect(narrow.written()).toBe('⟲polled 1…');
    const unknown = recorder(0);
    new ProgressLine(unknown).show('polled 12 of 36 targets');
    expect(unknown.written()).toBe('⟲polled 12 of 36 targets');
  });
});

/** The report of these statuses, with why they fail. */
function report(
  statuses: readonly TargetStatus[],
  listings: readonly ListingStatus[],
  succeeded: boolean,
  durationMs = 2100,
): string {
  const causes = causesOf(causeInput(statuses, listings));
  return pollReport(statuses, listings, causes, succeeded, durationMs, plain);
}

describe('the report of a round of polls', () => {
  const parent = { ids: { library_id: '4711' }, name: 'trailers' };
  const refused = {
    ...refusedListing,
    lastFailure: { ...refusedListing.lastFailure, message: 'HTTP 401\u001B[2J', sinceMs: nowMs - 60_000 },
  };

  it('says that something was not polled where nothing that was polled failed', () => {
    expect(report([status({ app_id: 'a' })], [], false)).toMatch(
      /\n✗ every poll succeeded, but not everything was polled, in 2\.1 s\n$/,
    );
  });

  it('names each listing that failed, and its verdict counts them', () => {
    const listings = [
      listing('Shield Zones', { api: 'shield' }),
      listing('applications', refused),
      listing('videos', { ...refused, parent }),
    ];
    expect(report([], listings, false)).toBe(`
✗ The application API refuses the key of account (from $KEY), and the shield API accepts it: HTTP 401 [2J: 2 listings
    applications of account, videos of trailers (4711)
    The key lacks the right, or the account the product. Use another key, or leave these kinds out: \`discovery: { except: [application] }\`.
    https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks/BunnynetKeyRefused.md

✗ 2 of 3 listings failed, in 2.1 s
`);
    const both = report([failing({ app_id: 'b' })], listings, false);
    expect(both).toMatch(/\n✗ 1 of 1 target and 2 of 3 listings failed, in 2\.1 s\n$/);
  });

  it('does not report success if nothing was polled', () => {
    expect(report([], [listing('Shield Zones')], true, 400)).toBe(
      '\n✓ every listing succeeded, and there is no target, in 0.4 s\n',
    );
  });

  it('is a table by kind, the causes of failures, and a verdict', () => {
    const statuses = [
      status({ app_id: 'a' }),
      failing({ app_id: 'b' }, { name: 'storefront\u001B[2J', lastSuccessMs: undefined }),
      status({ shield_zone_id: '501' }, { kind: 'shield_zone' }),
    ];
    expect(report(statuses, [], false)).toBe(`
kind         targets  ok  failing  absent
application        2   1        1       0
shield_zone        1   1        0       0
all                3   2        1       0

✗ HTTP 503 from the application API: 1 target (application)
    application storefront [2J (b)
    Look at https://status.bunny.net. The exporter retries.
    https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks/BunnynetApiUnreadable.md

✗ 1 of 3 targets failed, in 2.1 s
`);
  });

  it('is short if all is well', () => {
    expect(report([status({ app_id: 'a' })], [listing('Shield Zones')], true, 400)).toBe(`
kind         targets  ok  failing  absent
application        1   1        0       0

✓ every poll succeeded, in 0.4 s
`);
  });
});

describe('a pretty log line', () => {
  const record = (fields: object) =>
    JSON.stringify({ time: '2026-08-15T12:00:00.000Z', level: 'info', ...fields });
  const line = (fields: object) => prettyLine(record(fields), plain).replace(/^\d\d:\d\d:\d\d /, '');

  it('begins with the time and the level', () => {
    expect(prettyLine(record({ msg: 'stopped' }), plain)).toMatch(/^\d\d:\d\d:\d\d INFO {2}stopped\n$/);
    expect(prettyLine(record({ level: 'warn', msg: 'x' }), colours)).toContain(colours('yellow', 'WARN '));
  });

  it('names the target first, and puts the other fields after the message', () => {
    const fields = {
      level: 'warn',
      kind: 'video_storage',
      target: { library_id: '4711', video_id: '0f8c' },
      name: 'trailer',
      result: 'auth',
      reason: 'HTTP 401',
      status: 401,
      msg: 'poll failed: HTTP 401',
    };
    expect(line(fields)).toBe(
      'WARN  video_storage trailer (4711/0f8c): poll failed: HTTP 401 result=auth status=401\n',
    );
    expect(line({ kind: 'application', target: { app_id: 'a' }, msg: 'm' })).toBe('INFO  application a: m\n');
    expect(line({ kind: 'shield_zone', listing_of: 'account', msg: 'm' })).toBe(
      'INFO  shield_zone listing of account: m\n',
    );
  });

  it('writes foreign text without anything that moves the cursor', () => {
    const fields = { kind: 'application', target: { app_id: 'a' }, name: 'x\u001B[2J\u202Ey', msg: 'a\nb' };
    expect(line(fields)).toBe('INFO  application x [2J y (a): a b\n');
  });

  it('shows the stack of an error', () => {
    const err = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at here' };
    expect(line({ level: 'fatal', msg: 'it ends', err })).toBe(
      'FATAL it ends\n         Error: broken\n             at here\n',
    );
  });
});
