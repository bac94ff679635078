/** The limits that keep the server up whatever its clients do: each says what happens beyond it. */

export const defaultWebLimits = {
  // By Node's names, in milliseconds and bytes.
  /** From the connection, or the first byte of a later request, to the end of its headers; then 408 and cut. */
  headersTimeout: 10_000,
  /** The same to the end of its body. Not below `headersTimeout`. */
  requestTimeout: 15_000,
  /** How long a connection may stay idle between two requests: longer than usual scrape intervals, so that scrapes reuse it. */
  keepAliveTimeout: 120_000,
  /** For the TLS handshake; then cut. */
  handshakeTimeout: 10_000,
  /** How often Node looks at its timeouts, so how late one may be. */
  connectionsCheckingInterval: 30_000,
  /** Request line and headers; then 431 and cut. */
  maxHeaderSize: 16_384,

  /** Open connections, over all addresses. A new one is always let in; `Connections.add` says which one is cut. */
  maxConnections: 512,
  /** From the end of the request's headers to the last byte of the response; then cut. */
  responseTimeoutMs: 120_000,
  /** Bytes of a request's body, which no page reads; then 413 and cut. */
  maxBodyBytes: 1_024,
  /** Unanswered requests on one connection, pipelined; then cut. */
  maxRequestsInFlight: 16,
};

export type WebLimits = Readonly<typeof defaultWebLimits>;
