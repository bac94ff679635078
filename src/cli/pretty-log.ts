/** A log record as a line for people: time, level, target, message, other fields. */
import type { Ids } from '../resources/resource.ts';
import { pollDuration } from '../text.ts';
import { plainText, type Style, targetText } from './terminal.ts';

type Fields = Readonly<Record<string, unknown>>;

const levelStyles: Readonly<Record<string, Parameters<Style>[0]>> = {
  trace: 'dim',
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

/** Fields that the end of the line does not repeat, since its start, its message (`reason`) or its stack (`err`) has them. */
const used = new Set(['level', 'time', 'msg', 'kind', 'target', 'name', 'listing_of', 'reason', 'err']);

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isDuration(key: string, value: unknown): value is number {
  return key.endsWith('_seconds') && typeof value === 'number';
}

function textOf(value: unknown): string {
  return plainText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

/** `application storefront (q7TzVb2)`, `shield_zone listing of account`; empty if the record is about no target. */
function subjectOf({ kind, target, name, listing_of: credential }: Fields): string {
  if (typeof kind !== 'string') return '';
  if (credential !== undefined) return `${plainText(kind)} listing of ${textOf(credential)}`;
  // A message about a whole kind names it.
  if (!isFields(target)) return '';
  return targetText(kind, name === undefined ? undefined : textOf(name), target as Ids);
}

/** `09:43:12`, local time. */
function clock(time: unknown): string {
  return new Date(String(time)).toLocaleTimeString('en-GB', { hour12: false });
}

/** Several lines if there is a stack. `record` is JSON. */
export function prettyLine(record: string, style: Style): string {
  const fields = JSON.parse(record) as Fields;
  const level = String(fields['level']);
  const subject = subjectOf(fields);
  const rest = Object.entries(fields)
    .filter(([key]) => !used.has(key))
    .map(
      ([key, value]) =>
        `${key}=${isDuration(key, value) ? pollDuration(value).replace(' ', '') : textOf(value)}`,
    );
  const words = [
    style('dim', clock(fields['time'])),
    style(levelStyles[level] ?? 'dim', level.toUpperCase().padEnd(5)),
    ...(subject === '' ? [] : [`${style('bold', subject)}:`]),
    textOf(fields['msg'] ?? ''),
    ...(rest.length === 0 ? [] : [style('dim', rest.join(' '))]),
  ];
  const { err } = fields;
  const stack = isFields(err) && typeof err['stack'] === 'string' ? err['stack'] : '';
  const lines = stack === '' ? [] : stack.split('\n').map((line) => `         ${plainText(line)}`);
  return `${[words.join(' '), ...lines].join('\n')}\n`;
}
