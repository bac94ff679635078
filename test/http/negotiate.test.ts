import { describe, expect, it } from 'vitest';
import { negotiateCoding, negotiateFormat } from '../../src/http/negotiate.ts';

describe('negotiateFormat', () => {
  it.each([
    ['no header', undefined, 'text'],
    ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text'],
    ['a client that names neither', 'application/json', 'text'],
    [
      'Prometheus 2.30',
      'application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'text',
    ],
    [
      'Prometheus 2.42',
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'openmetrics',
    ],
    [
      'Prometheus 3',
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'openmetrics',
    ],
    [
      'Prometheus 3 that prefers text',
      'text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.2',
      'text',
    ],
    ['OpenMetrics without a version', 'application/openmetrics-text', 'openmetrics'],
    ['another version of OpenMetrics', 'application/openmetrics-text;version=2.0.0', 'text'],
    ['a client that refuses OpenMetrics', 'application/openmetrics-text;q=0,*/*;q=0.1', 'text'],
    ['equal qualities, OpenMetrics first', 'application/openmetrics-text, text/plain', 'openmetrics'],
    ['a wildcard with a higher quality', 'application/openmetrics-text;q=0.4, text/*;q=0.5', 'text'],
    ['an invalid quality', 'application/openmetrics-text;q=much, text/plain;q=0.1', 'text'],
  ])('answers %s', (_, accept, format) => {
    expect(negotiateFormat(accept)).toBe(format);
  });
});

describe('negotiateCoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['br, zstd;q=0.5', 'identity'],
    ['*', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0, *', 'identity'],
    ['gzip;q=0.5, identity', 'identity'],
    ['gzip;q=0.5, identity;q=0.4', 'gzip'],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=0, br', undefined],
    ['*;q=0', undefined],
    ['*;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=2', 'identity'],
    [' , ;q=1, gzip', 'gzip'],
  ])('answers %s with %s', (acceptEncoding, coding) => {
    expect(negotiateCoding(acceptEncoding)).toBe(coding);
  });
});
