import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { unwrapData } from '../../src/resources/envelope.ts';
import {
  codeNumber,
  entriesOf,
  id,
  instant,
  integer,
  list,
  number,
  object,
} from '../../src/resources/fields.ts';
import { ReadingError } from '../../src/resources/resource.ts';
import { parseChartKey, parseInstant } from '../../src/resources/times.ts';

describe('unwrapData', () => {
  const data = { planType: 1 };
  const emptyEnvelope = { statusCode: 0, success: false, message: null, errorKey: null };

  it.each([
    ['no envelope', { data }],
    ['null as error', { data, error: null }],
    ['success', { data, error: { statusCode: 200, success: true, message: 'OK', errorKey: null } }],
    ['an empty default envelope', { data, error: emptyEnvelope }],
    ['an empty default envelope around the data', { data, ...emptyEnvelope }],
    ['success around the data', { data, success: true, message: 'OK', statusCode: 200 }],
    ['no flag and a message', { data, message: 'cached' }],
  ])('returns the data of an answer with %s', (_, body) => {
    expect(unwrapData(body)).toEqual(data);
  });

  const key = 'not_found_or_unauthorised_access.shieldzone';
  it.each([
    [
      'a message and a key',
      { data: null, error: { success: false, message: 'No', errorKey: key } },
      `${key}: No`,
      key,
    ],
    ['a message only', { data: null, error: { success: false, message: 'No' } }, 'No', undefined],
    ['a key only', { data: null, error: { success: false, errorKey: key } }, key, key],
    [
      'the envelope around the data',
      { data: null, success: false, message: 'No', statusCode: 404 },
      'No',
      undefined,
    ],
    ['a message and no data', { success: null, message: 'No' }, 'No', undefined],
    [
      'no reason',
      { data: null, error: { ...emptyEnvelope, statusCode: 500 } },
      'the answer has no data and gives no reason',
      undefined,
    ],
  ])('rejects an error with %s', (_, body, message, errorKey) => {
    const result = errorKey === key ? 'not_found' : 'rejected';
    expect(() => unwrapData(body)).toThrow(new ReadingError(result, message, errorKey));
    try {
      unwrapData(body);
    } catch (error) {
      expect(error).toMatchObject({ result, errorKey });
    }
  });

  const named = { success: false, message: 'No', errorKey: 'not_found.waf_rule' };
  it.each([
    ['error', { data: null, error: named }],
    ['errorResponse', { id: 0, shieldZoneId: 0, ruleConfiguration: null, errorResponse: named }],
    ['errorResponse beside an empty error', { data: null, error: emptyEnvelope, errorResponse: named }],
    ['the body itself', { data: null, ...named }],
    ['the body itself, beside an empty error', { data: null, error: emptyEnvelope, ...named }],
    [
      'a body whose figures are zeros',
      { data: { requests: 0 }, errorResponse: { ...named, success: undefined } },
    ],
  ])('finds the name of an error in %s', (_, body) => {
    expect(() => unwrapData(body)).toThrow(
      new ReadingError('not_found', 'not_found.waf_rule: No', 'not_found.waf_rule'),
    );
  });

  it.each([
    [{ data: null }],
    [{}],
    [{ data: null, error: { success: true, message: 'OK' } }],
    [[]],
    [null],
    ['text'],
  ])('finds no data in %j', (body) => {
    expect(() => unwrapData(body)).toThrow(expect.objectContaining({ result: 'schema' }));
  });
});

describe('parseInstant', () => {
  it.each([
    ['2026-11-20T09:30:00Z', 1795167000],
    ['2026-11-20T09:30:00', 1795167000],
    ['2026-11-20T09:30:00+0230', 1795158000],
    ['2026-11-20T09:30:00.5-01:00', 1795170600.5],
    ['2026-11-20T09:30:00.1234567Z', 1795167000.1234567],
    ['2024-02-29T00:00:00Z', 1709164800],
  ])('reads %s', (text, seconds) => {
    expect(parseInstant(text)).toBe(seconds);
  });

  it('reads a leap second as the next second', () => {
    const notes = {
      mismatch: () => undefined,
      badKey: () => undefined,
      path: [],
      unrecognized: [],
    };
    const before = instant.read('2016-12-31T23:59:59.5Z', notes) ?? 0;
    expect(instant.read('2016-12-31T23:59:60.5Z', notes)).toBe(before + 1);
    expect(instant.read('2017-01-01T00:59:60+01:00', notes)).toBe(Date.parse('2017-01-01T00:00:00Z') / 1000);
  });

  it('reads an instant without a zone as UTC in any time zone', () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect(new Date(0).getTimezoneOffset()).toBe(-540);
    expect(parseInstant('2026-11-20T09:30:00')).toBe(1795167000);
    expect(parseChartKey('20-11-2026')?.atSeconds).toBe(1795132800);
  });

  it.each([
    '',
    'now',
    '2026-11-20',
    '1795167000',
    '2026-02-29T00:00:00Z',
    '2026-11-20T09:30:61Z',
    '2026-11-20T09:60:00Z',
    '2026-11-20T09:30:00+24:00',
    '2026-11-20T09:30:00 CET',
    '20-11-2026T09:30:00Z',
  ])('finds no instant in %j', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });
});

describe('parseChartKey', () => {
  it.each([
    ['2026-11-20T09:30', 1795167000],
    ['2026-11-20T09:30Z', 1795167000],
    ['2026-11-20T09:30+01:00', 1795163400],
    ['2026-11-20T09:30:00Z', 1795167000],
    ['1795167000', 1795167000],
  ])('reads the instant %s', (key, atSeconds) => {
    expect(parseChartKey(key)).toEqual({ atSeconds, startSeconds: 1795132800, isDay: false });
  });

  it('knows the day of an instant that a double rounds up to the next', () => {
    expect(parseChartKey('2026-11-20 23:59:59.9999999')?.startSeconds).toBe(1795132800);
  });

  it.each(['2026-11-20', '20-11-2026'])('reads the day %s', (key) => {
    expect(parseChartKey(key)).toEqual({ atSeconds: 1795132800, startSeconds: 1795132800, isDay: true });
  });

  it.each([
    '',
    'monday',
    '05/06/2026',
    '11/20/2026 09:30:00',
    '2026-11',
    '2026-02-31',
    '29-02-2026',
    '32-01-2026',
    '0000-00-00',
    '01-01-0099',
    '2026-11-20T25:00',
    '20261120',
  ])('finds no time in %j', (key) => {
    expect(parseChartKey(key)).toBeUndefined();
  });
});

describe('readFields', () => {
  const schema = object({
    mode: codeNumber(['log', 'block']),
    count: integer,
    cost: number,
    until: instant,
    zoneId: id,
    rules: list,
    sizes: entriesOf(object({ size: integer })),
  });
  const read = (json: string) => {
    const noted: string[] = [];
    const fields = schema.from(JSON.parse(json), {
      mismatch: (field, expected, received) => noted.push(`${field}: ${expected}, not ${received}`),
      unrecognized: (field, value) => noted.push(`${field}: unknown ${value}`),
    });
    return { fields, noted };
  };

  it.each([
    ['{"count": 1.5}', 'count: a whole number, not a number'],
    ['{"count": "7"}', 'count: a number, not a string'],
    ['{"cost": 1e999}', 'cost: a number, not a number that is too large'],
    ['{"until": "soon"}', 'until: a date-time, not a string'],
    ['{"zoneId": -1}', 'zoneId: a whole number of up to 64 bits, not a number'],
    ['{"sizes": {"x264": 123456}}', 'sizes: an object, not a number'],
    ['{"sizes": {"x264": {"size": []}}}', 'sizes: a number, not an array'],
    ['{"mode": true}', 'mode: a number, not a boolean'],
  ])('notes for %s what was expected and what was received', (json, note) => {
    expect(read(json).noted).toEqual([note]);
  });

  it('keeps an unlisted code and notes it; null is no code', () => {
    expect(read('{"mode": 7}')).toEqual({ fields: { mode: 7 }, noted: ['mode: unknown 7'] });
    expect(read('{"mode": 1}').noted).toEqual([]);
    expect(read('{"mode": null}').noted).toEqual([]);
  });

  it('reads __proto__ as an ordinary key, with good and bad values', () => {
    const { fields, noted } = read('{"sizes": {"__proto__": {"size": 7}, "toString": {"size": 8}}}');
    expect(fields.sizes).toEqual([
      ['__proto__', { size: 7 }],
      ['toString', { size: 8 }],
    ]);
    expect(noted).toEqual([]);
    const bad = read('{"sizes": {"__proto__": 7, "x264": {"size": 8}}}');
    expect(bad.fields.sizes).toEqual([
      ['__proto__', undefined],
      ['x264', { size: 8 }],
    ]);
    expect(bad.noted).toEqual(['sizes: an object, not a number']);
  });
});
