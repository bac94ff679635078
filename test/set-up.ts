/** Set-up for every test file: the number of runs of properties. */
import fc from 'fast-check';
import { runs } from './runs.ts';

// For properties that do not say how many runs they want; `npm run test:nightly` tries many more.
fc.configureGlobal({ numRuns: runs(100, 2000) });
