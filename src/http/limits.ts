/** The limits that keep the server up whatever its clients do, and what happens beyond them. */

export const defaultWebLimits = {
  // By Node's names, in milliseconds and bytes.
  /** From the connection, or a later request's first byte, to the end of its headers; then 408. */
  headersTimeout: 10_000,
  /** The same to the end of its body. Not below `headersTimeout`. */
  requestTimeout: 15_000,
  /** For an idle connection: longer than usual scrape intervals, so that scrapes reuse it. */
  keepAliveTimeout: 120_000,
  /** For the TLS handshake; then cut. */
  handshakeTimeout: 10_000,
  /** How often Node looks at its timeouts, so how late one may be. */
  connectionsCheckingInterval: 30_000,
  /** Request line and headers; then 431. */
  maxHeaderSize: 16_384,

  /** Over all addresses. A new one is always let in; `Connections.add` says which one is cut. */
  maxConnections: 512,
  /** From the end of a request's headers to the last byte of its response; then cut. */
  responseTimeoutMs: 120_000,
  /** Unanswered requests on one connection, pipelined; then cut. */
  maxRequestsInFlight: 16,
};

export type WebLimits = Readonly<typeof defaultWebLimits>;
