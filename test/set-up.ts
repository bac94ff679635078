/** Set-up for every test file: the number of runs of properties, and a polyfill for Node 20. */
import fc from 'fast-check';
import { runs } from './runs.ts';

// For properties that do not say how many runs they want; `npm run test:nightly` tries many more.
fc.configureGlobal({ numRuns: runs(100, 2000) });

// nock 15 uses Promise.withResolvers, which Node 20 lacks.
if (!('withResolvers' in Promise)) {
  Object.defineProperty(Promise, 'withResolvers', {
    configurable: true,
    writable: true,
    value: function withResolvers<T>() {
      let resolve: ((value: T | PromiseLike<T>) => void) | undefined;
      let reject: ((reason?: unknown) => void) | undefined;
      const promise = new Promise<T>((yes, no) => {
        resolve = yes;
        reject = no;
      });
      return { promise, resolve, reject };
    },
  });
}
