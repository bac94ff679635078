/** Types that the packages lack: undici has them for its index alone, and those of Node 20 know no values of WebAssembly. */
declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  function connect(this: Dispatcher, options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  export = connect;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export = buildConnector;
}

declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export = errors;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export = Pool;
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import { ProxyAgent } from 'undici';
  export = ProxyAgent;
}

declare namespace WebAssembly {
  const Memory: new (pages: { initial: number }) => object;
}
