/** The headers of every answer, and answers that are sent in one piece. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { send } from './send.ts';

/** Routes and the web configuration may replace them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** A short text: the socket takes it at once. */
export function answerText(
  response: ServerResponse,
  status: number,
  text = STATUS_CODES[status] ?? '',
): void {
  response.statusCode = status;
  response.end(prepare(response, 'text/plain', `${text}\n`));
}

/** A page of any length. */
export function answerWhole(response: ServerResponse, contentType: string, text: string): Promise<void> {
  return send(response, [prepare(response, contentType, text)]);
}

function prepare(response: ServerResponse, contentType: string, text: string): Buffer {
  const bytes = Buffer.from(text);
  response.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  response.setHeader('Content-Length', bytes.length);
  return bytes;
}
