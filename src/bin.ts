/** The command: what V8 must know before anything else is loaded, then `main.ts`. */
import { startSmall } from './v8.ts';

startSmall();
await import('./main.ts');
