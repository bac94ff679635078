/** The headers that every answer has, and answers that are there as a whole. */
import { STATUS_CODES } from 'node:http';
import type { WebResponse } from './route.ts';

/** Routes and the web configuration may replace them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

export function answerText(response: WebResponse, status: number, text = STATUS_CODES[status] ?? ''): void {
  response.statusCode = status;
  answerWhole(response, 'text/plain', `${text}\n`);
}

export function answerWhole(response: WebResponse, contentType: string, text: string): void {
  const bytes = Buffer.from(text);
  response.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

/** For a connection on which nothing could be read as a request. */
export function rawAnswer(status: number): string {
  const headers = Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n${headers.join('')}\r\n`;
}
