/** The command: sets what V8 must know before anything else is loaded, then runs `main.ts`. */
import { setFlagsFromString } from 'node:v8';

// undici parses HTTP in WebAssembly. Optimizing that code takes 25 MB for a moment: more than this process ever needs else.
// Set so late, the first flag no longer brings the others with it.
for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'])
  setFlagsFromString(flag);
// New objects keep the space that they have at the start: twice as much each time would make it 16 MB within a minute.
setFlagsFromString('--semi-space-growth-factor=1');

// Not awaited, nor is anything else at this level: of such code the single executable, which is CommonJS, cannot be made.
void import('./main.ts');
