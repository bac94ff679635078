/**
 * The parts of undici that we use, imported alone: the whole package has fetch, WebSocket, caches and mocks too, which take
 * 7 MB of memory. Its own types are of the whole package.
 */
declare module 'undici/lib/api/api-connect.js' {
  import type { Pool } from 'undici';

  const connect: Pool['connect'];
  export = connect;
}
declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export = errors;
}
declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import { EnvHttpProxyAgent } from 'undici';
  export = EnvHttpProxyAgent;
}
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export = Pool;
}
