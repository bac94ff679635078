/**
 * The measured data: only the kinds of the API reference, in fixed sizes, so that figures of different days can be
 * compared. The demo has more kinds and fewer applications.
 */
import { resources } from '../src/resources/index.ts';
import { type KindName, type Shape, scales } from '../src/simulator/dataset.ts';
import type { Scale } from '../src/simulator/kind.ts';

export const measuredKinds: readonly KindName[] = resources
  .filter(({ reference }) => /^\d/.test(reference))
  .map(({ kind }) => kind as KindName);

/** About 600, 60,000 and 600,000 series. */
export const shapes: Readonly<Record<Scale, Shape>> = {
  small: scales.small,
  medium: { ...scales.medium, applications: 2_650 },
  full: { ...scales.full, applications: 26_500 },
};
