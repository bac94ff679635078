/** Set-up for every test file: the number of runs of properties, and what nock needs on Node 20. */
import fc from 'fast-check';
import { runs } from './runs.ts';

// For properties that do not say how many runs they want; `npm run test:nightly` tries many more.
fc.configureGlobal({ numRuns: runs(50, 2000) });

/** As Node has it from 22 on. */
function withResolvers<Value>() {
  const parts: Partial<Record<'resolve' | 'reject', (value: Value) => void>> = {};
  const promise = new Promise<Value>((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return { promise, ...parts };
}
if (!('withResolvers' in Promise)) Object.assign(Promise, { withResolvers });
