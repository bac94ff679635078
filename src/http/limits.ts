/** The bounds that keep the server up whatever its clients do: each says what happens beyond it. */

export interface WebLimits {
  /** Open connections, over all addresses. A new one is always let in; see `Connections.add` for the one that is cut. */
  readonly maxConnections: number;
  /** From the connection, or the first byte of a later request, to the end of its headers; then 408 and cut. */
  readonly headersTimeoutMs: number;
  /** The same to the end of its body. Not below `headersTimeoutMs`. */
  readonly requestTimeoutMs: number;
  /** From the end of the request's headers to the last byte of the response; then cut. */
  readonly responseTimeoutMs: number;
  /** How long a connection may stay idle between two requests: longer than usual scrape intervals, so that scrapes reuse it. */
  readonly keepAliveTimeoutMs: number;
  /** For the TLS handshake; then cut. */
  readonly handshakeTimeoutMs: number;
  /** Request line and headers; then 431 and cut. */
  readonly maxHeaderBytes: number;
  /** Characters of the request's path and query; then 414. */
  readonly maxUrlLength: number;
  /** Bytes of a request's body, which no page reads; then 413 and cut. */
  readonly maxBodyBytes: number;
  /** The connection is closed after the response to the last of them. */
  readonly maxRequestsPerConnection: number;
  /** Unanswered requests on one connection, pipelined; then cut. */
  readonly maxRequestsInFlight: number;
  /** How often node:http looks at its timeouts, so how late one may be. */
  readonly checkIntervalMs: number;
}

export const defaultWebLimits: WebLimits = {
  maxConnections: 512,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  responseTimeoutMs: 120_000,
  keepAliveTimeoutMs: 120_000,
  handshakeTimeoutMs: 10_000,
  maxHeaderBytes: 16_384,
  maxUrlLength: 4_096,
  maxBodyBytes: 1_024,
  maxRequestsPerConnection: 10_000,
  maxRequestsInFlight: 16,
  checkIntervalMs: 30_000,
};
