/** The limits that keep the server up whatever its clients do, by Node's names, in milliseconds and bytes. */

export const defaultWebLimits = {
  /** At the same time, for each listen address. Further ones are closed at once. */
  maxConnections: 512,
  /** From opening a connection, or the first byte of a later request, to the end of the headers; then 408. */
  headersTimeout: 10_000,
  /** Likewise, to the end of the request's body. Not below `headersTimeout`. */
  requestTimeout: 15_000,
  /** How long a TLS handshake may take. */
  handshakeTimeout: 10_000,
  /** How often Node checks the two request timeouts above, so by how much they may be exceeded. */
  connectionsCheckingInterval: 5_000,
  /** How long a connection may transfer nothing while a request is being answered; then it is closed. */
  timeout: 60_000,
  /** How long an idle connection stays open: longer than usual scrape intervals, so that scrapes reuse it. */
  keepAliveTimeout: 120_000,
  /** The largest request line with headers; above it 431. */
  maxHeaderSize: 16_384,
};

export type WebLimits = Readonly<typeof defaultWebLimits>;
