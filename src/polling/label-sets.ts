/** What is kept of the labels of readings. Most targets of a kind have the same: countries, codes, no name. So they are shared. */
import type { Labels } from '../resources/resource.ts';

export interface LabelSet {
  /** The text by which a family tells it apart. */
  readonly key: string;
  readonly labels: Labels;
}

/** The newest, so that it does not grow forever. */
const shared = new Map<string, LabelSet>();
const mostShared = 2000;

/** A copy: the texts of a reading may be slices that keep the whole answer in memory. */
export function copyOf(labels: Labels = {}): LabelSet {
  const text = JSON.stringify(labels);
  const known = shared.get(text);
  if (known) return known;
  if (shared.size === mostShared) shared.clear();
  const set = { key: keyOf(labels), labels: structuredClone(labels) };
  shared.set(text, set);
  return set;
}

export function keyOf(labels: Labels = {}): string {
  return JSON.stringify(Object.values(labels));
}
