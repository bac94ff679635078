/** The limits that keep the server up whatever its clients do, by Node's names, in milliseconds and bytes. */

export const defaultWebLimits = {
  /** For each address. One more is closed at once, until another connection ends. */
  maxConnections: 512,
  /** From the connection, or a later request's first byte, to the end of its headers; then 408. */
  headersTimeout: 10_000,
  /** The same to the end of its body. Not below `headersTimeout`. */
  requestTimeout: 15_000,
  /** For the TLS handshake. */
  handshakeTimeout: 10_000,
  /** How often Node looks at the timeouts above, so how late one may be. */
  connectionsCheckingInterval: 5_000,
  /** Without a byte in either direction while a request waits for its answer. */
  timeout: 60_000,
  /** For an idle connection: longer than usual scrape intervals, so that scrapes reuse it. */
  keepAliveTimeout: 120_000,
  /** Request line and headers; then 431. */
  maxHeaderSize: 16_384,
  /** Of an answer, handed to a connection ahead of its reader: with Node's 16 KiB, large pages take twice the CPU time. */
  highWaterMark: 262_144,
};

export type WebLimits = Readonly<typeof defaultWebLimits>;
