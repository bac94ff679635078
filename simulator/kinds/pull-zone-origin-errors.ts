/** Why the origins of pull zones failed, one entry for each error, with the address that a visitor asked for. */
import { ofEach } from '../answers.ts';
import { dayMs, dayOf } from '../days.ts';
import { count, guid, hash, secret, unit } from '../entities.ts';
import { originErrorsApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import type { PullZone } from './pull-zone.ts';

export const pullZoneOriginErrors = {
  kind: 'pull_zone_origin_errors',
  section: 'pull_zone_origin_errors',
  ...originErrorsApi,
  path: '/{pullZone}/{date}',
  traits: {},
  ...ofEach('pullZones', errors),
} as const satisfies Kind;

const causes = [
  ['http_timeout', '504'],
  ['network_socket_exception', '502'],
  ['dns_lookup', '502'],
  ['http_invalid_range', '416'],
  ['http_request_failure', '500'],
] as const;

/** Errors of a day are spread over it. Every fourth zone has none. The API gives at most 1000, and says when there are more. */
function errors(zone: PullZone, { ids, nowMs }: Request) {
  const [, written = ''] = ids;
  const [month = Number.NaN, date = 1, year = 1970] = written.split('-').map(Number);
  const day = dayOf(Date.UTC(year, month - 1, date) || nowMs);
  const ofDay =
    zone.index % 4 === 3 ? 0 : 20 + (hash(zone.seed, day) % 200) * (zone.index % 16 === 2 ? 10 : 1);
  const begun = count(ofDay, (place) => ({
    place,
    atMs: Math.floor((day + unit(zone.seed, day, place)) * dayMs),
  })).filter(({ atMs }) => atMs <= nowMs);
  const hasMoreData = begun.length > 1_000;
  const logs = begun.slice(0, 1_000).map(({ place, atMs }) => {
    const [ErrorCode, StatusCode] =
      causes[hash(zone.seed, place) % (1 + (zone.index % causes.length))] ?? causes[0];
    const RequestUrl = `https://${zone.name}.example/cart?session=${secret('visitor', hash(zone.seed, place))}`;
    return {
      logId: guid(hash(zone.seed, day, place)),
      timestamp: atMs,
      log: JSON.stringify({ RequestUrl, PullZoneId: zone.id, Message: 'It failed.', ErrorCode, StatusCode }),
      labels: { ErrorCode, StatusCode, ServerZone: 'DE' },
    };
  });
  return ok({
    logs,
    hasMoreData,
    continuationToken: hasMoreData ? 'bmV4dA' : '',
    startToken: '',
  });
}
