/** What the API's states and codes are called and how they are coloured; the numbers are those of the metrics or our own. */
import { textOf } from './panels.ts';
import type { Entity } from './promql.ts';
import { namedAmong, selector, upFamilies, values } from './promql.ts';

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

const statusNumbers = statuses
  .map(([status], at) => `label_replace(vector(${at + 1}), "status", "${status}", "", "")`)
  .join(' or ');

/** One series an application: the number of its status, 0 while it cannot be read. */
export function statusNumber(entity: Entity): string {
  const current = `${selector('bunnynet_application_status', entity.selection)} == 1`;
  const numbers = `max by (app_id) ((${current}) * on (status) group_left () (${statusNumbers}))`;
  return `${numbers} or on (app_id) ${values(entity, upFamilies.application)} * 0`;
}

/** The statuses of the applications that were active for the least part of the panel's range, with the label `display`. */
export function statusOfLeastActive(limit: number, entity: Entity): string {
  const active = values(entity, 'bunnynet_application_status', { where: ['status="active"'] });
  const inactivity = `1 - avg_over_time((${active} or on (app_id) ${values(entity, upFamilies.application)} * 0)[$__range:$__interval] @ end())`;
  return namedAmong(`topk(${limit}, ${inactivity})`, entity, statusNumber(entity));
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
  4: ['challenge', 'text'],
});
