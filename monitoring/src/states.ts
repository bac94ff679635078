/** Values as text and colour, where several kinds share them. */
import { textOf } from './panels.ts';

export const upText = textOf({ 0: ['failing', 'red'], 1: ['ok', 'green'] });
export const yesNo = textOf({ 0: ['no', 'text'], 1: ['yes', 'text'] });
export const onOff = textOf({ 0: ['off', 'red'], 1: ['on', 'green'] });
