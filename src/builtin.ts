/** Node's own modules where they are first needed: TLS, which many never use, takes a tenth of the time to start. */
import { createRequire } from 'node:module';

export const builtin = createRequire(import.meta.url) as typeof process.getBuiltinModule;
