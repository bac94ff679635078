/** The program: what V8 must know before anything else is loaded, then `main.ts`. */
import { startSmall } from './v8.ts';

startSmall();
// Not awaited, nor is anything else at this level: of such code the bundle, which is CommonJS, cannot be made.
void import('./main.ts');
