/** A month: days with what happens in them, and the truth about each. */
import type { Day } from './happenings.ts';
import { exporterDays } from './month-of-exporters.ts';
import { thingDays } from './month-of-things.ts';
import { trafficDays } from './month-of-traffic.ts';
import { randomDays } from './random-days.ts';

export const fixedDays: readonly Day[] = [...exporterDays, ...trafficDays, ...thingDays];

export const monthOf = (seed: number): readonly Day[] => [...fixedDays, ...randomDays(seed)];
