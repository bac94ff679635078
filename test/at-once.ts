import { expect } from 'vitest';

/**
 * Carries out cases that mostly wait for seconds, all at the same time: together they take as long as the longest. Fails with the names
 * and the reasons of those that fail.
 */
export async function atOnce(cases: Readonly<Record<string, () => Promise<void>>>): Promise<void> {
  const ended = await Promise.allSettled(Object.values(cases).map((run) => run()));
  const failed = Object.keys(cases).flatMap((name, at) => {
    const end = ended[at];
    return end?.status === 'rejected' ? [`${name}: ${(end.reason as Error).stack}`] : [];
  });
  expect(failed).toEqual([]);
}
