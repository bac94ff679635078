/** What the API's states and codes are called and how they are coloured; the numbers are those of the metrics or our own. */
import { textOf } from './panels.ts';
import type { Entity } from './promql.ts';
import { upFamilies, values } from './promql.ts';

/** ApplicationStatus from harmless to bad; the place in the list is the number that stands for it in a timeline. */
const statuses = [
  ['active', 'green'],
  ['progressing', 'blue'],
  ['inactive', 'yellow'],
  ['unknown', 'orange'],
  ['suspended', 'purple'],
  ['failing', 'red'],
] as const;

export const statusColors: Readonly<Record<string, string>> = Object.fromEntries(statuses);

export const statusText = textOf({
  0: ['no reading', 'gray'],
  ...Object.fromEntries(statuses.map(([status, color], at) => [at + 1, [status, color] as const])),
});

/** One series an application: the number of its status, 0 while it cannot be read. */
export function statusNumber(entity: Entity): string {
  const states = statuses.map(
    ([status], at) =>
      `(${values(entity, 'bunnynet_application_status', { where: [`status="${status}"`] })} == 1) * ${at + 1}`,
  );
  const ids = entity.ids.join(', ');
  return [...states, `${values(entity, upFamilies.application)} * 0`].join(` or on (${ids}) `);
}

export const upText = textOf({ 0: ['failing', 'red'], 1: ['ok', 'green'] });
export const yesNo = textOf({ 0: ['no', 'text'], 1: ['yes', 'text'] });
export const onOff = textOf({ 0: ['off', 'red'], 1: ['on', 'green'] });
export const learning = textOf({ 0: ['no', 'text'], 1: ['learning', 'blue'] });
/** wafExecutionMode, dDoSExecutionMode */
export const executionMode = textOf({ 0: ['log', 'orange'], 1: ['block', 'green'] });
/** planType */
export const planType = textOf({
  0: ['basic', 'text'],
  1: ['advanced', 'text'],
  2: ['business', 'text'],
  3: ['enterprise', 'text'],
});
/** dDoSShieldSensitivity */
export const sensitivity = textOf({
  0: ['off', 'red'],
  1: ['low', 'text'],
  2: ['medium', 'text'],
  3: ['high', 'text'],
  4: ['highest', 'text'],
});
