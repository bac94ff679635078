/** The headers of every answer, and answers that are sent in one piece. */
import { type ServerResponse, STATUS_CODES } from 'node:http';

/** Routes and the web configuration may replace them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

export function answerText(
  response: ServerResponse,
  status: number,
  text = STATUS_CODES[status] ?? '',
): void {
  response.statusCode = status;
  answerWhole(response, 'text/plain', `${text}\n`);
}

export function answerWhole(response: ServerResponse, contentType: string, text: string): void {
  const bytes = Buffer.from(text);
  response.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}
