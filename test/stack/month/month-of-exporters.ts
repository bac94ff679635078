/** Days on which something is wrong with the API, keys, exporters or Prometheus, or only looks like it. */
import {
  add,
  allow,
  atOnce,
  both,
  type Day,
  end,
  fail,
  happens,
  hideState,
  hours,
  idOf,
  inOne,
  mails,
  nothing,
  pages,
  refuse,
  reload,
  remove,
  replace,
  revoke,
  rotate,
  set,
  status,
  stop,
  stopPrometheus,
  take,
  traffic,
} from './happenings.ts';
import type { ExporterOptions } from './stage.ts';

const acme: ExporterOptions = { accounts: { acme: 'acme' } };
const umbrella: ExporterOptions = { accounts: { umbrella: 'umbrella' } };
const oneEach = { acme, umbrella };
const ofAcme = { account: 'acme' };
const ofUmbrella = { account: 'umbrella' };

const sidecars = Array.from({ length: 50 }, (_, place) => `sidecar-${place}`);
const sidecar: ExporterOptions = {
  accounts: { acme: 'acme' },
  kinds: ['application'],
  sections: { applications: { targets: [{ id: idOf('acme', 'applications') }], credential: 'acme' } },
  job: 'sidecars',
  hasState: false,
};

export const exporterDays: readonly Day[] = [
  {
    name: 'outages',
    begins: '2026-03-10T08:00Z',
    minutes: hours(10),
    kinds: [
      'application',
      'shield_zone',
      'pull_zone',
      'pull_zone_statistics',
      'pull_zone_origin_errors',
      'video_library',
      'video_library_statistics',
      'dns_record',
    ],
    happenings: [
      atOnce(
        happens(
          '1:00',
          '0:40',
          'the core API answers 500',
          fail({ api: 'core' }, 500),
          pages('ApiUnreadable', 20, { api: 'core' }),
        ),
      ),
      atOnce(
        happens(
          '2:20',
          '1:00',
          'all APIs reset connections',
          fail({}, 'reset'),
          pages('ApiUnreadable', 22, { api: '' }),
        ),
      ),
      atOnce(
        happens(
          '4:00',
          '1:00',
          'the API of origin errors answers 503',
          fail({ api: 'origin_errors' }, 503),
          mails('ApiUnreadable', 30, { api: 'origin_errors' }),
        ),
      ),
      atOnce(
        happens(
          '6:00',
          '0:45',
          'the shield API answers nothing',
          fail({ api: 'shield' }, 'no answer'),
          pages('ApiUnreadable', 25, { api: 'shield' }),
        ),
      ),
      happens('7:45', '0:08', 'the core API answers 500 for eight minutes', fail({ api: 'core' }, 500)),
      happens('8:30', '1:00', 'a fifth of all answers is 503', fail({}, 503, 0.2)),
    ],
  },
  {
    name: 'keys',
    begins: '2026-03-11T06:00Z',
    minutes: hours(12.5),
    kinds: ['application', 'pull_zone', 'shield_zone', 'video_library', 'video_library_statistics'],
    exporters: oneEach,
    happenings: [
      happens(
        '0:30',
        '1:00',
        'the key of acme is refused, and works again',
        refuse('acme'),
        pages('KeyRefused', 15, ofAcme),
      ),
      happens(
        '2:30',
        '2:30',
        'the key of umbrella is revoked, until there is another',
        revoke('umbrella', 'umbrella'),
        pages('KeyRefused', 15, ofUmbrella),
      ),
      happens(
        '3:00',
        '1:30',
        'the keys of the libraries of acme are refused',
        fail({ account: 'acme', api: 'video' }, 401),
        mails('KeyRefused', 20, { ...ofAcme, api: 'video' }, 110),
      ),
      happens(
        '6:30',
        '1:00',
        'all answers for umbrella are 403',
        fail({ account: 'umbrella' }, 403),
        pages('AccountUnreadable', 35, ofUmbrella),
      ),
      happens(
        '6:30',
        '1:00',
        'acme has its key under a second name',
        reload('acme', { accounts: { acme: 'acme', shop: 'acme' } }, acme),
        mails('SameKeyTwice', 30, { account: 'shop' }),
      ),
      happens(
        '8:30',
        '1:30',
        'acme gets another name, and its own again',
        reload('acme', { accounts: { acmeeu: 'acme' } }, acme),
      ),
      happens('11:00', '0:30', 'the key of acme is rotated', rotate('acme', 'acme')),
    ],
  },
  {
    name: 'processes',
    begins: '2026-03-12T05:00Z',
    minutes: hours(24),
    kinds: ['application', 'pull_zone', 'pull_zone_statistics'],
    exporters: oneEach,
    happenings: [
      happens('0:15', '1:00', 'a second exporter reads acme, and goes', add('second', acme)),
      happens(
        '1:30',
        '0:30',
        'the exporter of acme does not answer',
        stop('acme'),
        pages('ExporterDown', 10, { job: 'bunnynet' }, 10),
      ),
      happens('3:00', '0:02', 'the exporter of acme is restarted', stop('acme')),
      happens('3:30', '0:01', 'the exporter of acme is rolled out', replace('acme')),
      happens(
        '2:30',
        '3:00',
        'the exporter of umbrella is no longer found',
        remove('umbrella', umbrella),
        pages('ExporterAbsent', 30, ofUmbrella, 15),
      ),
      happens('6:30', '1:00', 'Prometheus does not run', stopPrometheus),
      happens(
        '8:00',
        '1:45',
        'the state of acme cannot be written',
        hideState('acme'),
        mails('StateNotSaved', 85, {}, 15),
      ),
      happens(
        '10:15',
        '0:40',
        'the new configuration of acme is wrong',
        reload('acme', { ...acme, sections: { applications: { targets: 'nonsense' } } }, acme),
        mails('ReloadFailed', 10, {}, 10),
      ),
      happens(
        '10:15',
        '1:30',
        'no application of umbrella can be read',
        fail({ account: 'umbrella', operations: ['application'] }, 500),
        mails('KindUnreadable', 30, { ...ofUmbrella, kind: 'application' }),
      ),
      happens(
        '12:15',
        '1:30',
        'the applications of umbrella cannot be listed',
        fail({ account: 'umbrella', operations: ['application_listing'] }, 500),
        mails('DiscoveryFailing', 50, { ...ofUmbrella, kind: 'application' }),
      ),
      happens(
        '14:15',
        '1:00',
        'an application of umbrella has a status that nobody knows',
        status('umbrella', 1, 'dreaming'),
        mails('SchemaDrift', 25, { kind: 'application', field: 'status' }, 400),
      ),
      happens(
        '11:30',
        '1:00',
        'acme names an application that does not exist',
        reload(
          'acme',
          {
            ...acme,
            sections: {
              applications: { targets: [{ id: 'NoSuchOneIsHere' }, { id: idOf('acme', 'applications') }] },
            },
          },
          acme,
        ),
        mails('TargetNotFound', 25, { ...ofAcme, kind: 'application' }, 20),
      ),
      happens(
        '13:00',
        '1:30',
        'acme may ask hardly as often as it must',
        both(
          reload('acme', { ...acme, sections: { applications: { targets: 'all', interval: '21s' } } }, acme),
          allow('acme', 0.1),
        ),
        mails('RequestRateTooLow', 45, { api: 'application' }),
      ),
      inOne(
        happens(
          '8:30',
          '1:30',
          'the listing of umbrella has no pull zone any more',
          take('umbrella', ...[0, 1, 2, 3].map((place) => idOf('umbrella', 'pullZones', place))),
          mails('NothingFound', 60, { ...ofUmbrella, kind: 'pull_zone' }),
          mails('NothingFound', 60, { ...ofUmbrella, kind: 'pull_zone_statistics' }),
        ),
      ),
      happens(
        '15:00',
        '0:10',
        'a storm of 429 for ten minutes',
        fail({ api: 'application' }, '429 for a minute'),
      ),
      happens(
        '16:00',
        '2:00',
        'a storm of 429 for acme',
        fail({ account: 'acme', api: 'application' }, '429 for a minute'),
        mails('ApiPaused', 70, ofAcme),
      ),
      happens(
        '19:30',
        '2:00',
        'an application of acme fails',
        status('acme', 0, 'failing'),
        pages('ApplicationFailing', 12, { ...ofAcme, app_id: idOf('acme', 'applications') }),
      ),
      happens(
        '19:45',
        '1:30',
        'the key of umbrella is refused',
        refuse('umbrella'),
        pages('KeyRefused', 15, ofUmbrella),
      ),
      happens('20:10', '0:01', 'both exporters are rolled out', both(replace('acme'), replace('umbrella'))),
      happens(
        '22:00',
        '0:01',
        'acme moves to the exporter of umbrella',
        both(reload('umbrella', {}, {}), end('acme')),
      ),
    ],
  },
  {
    name: 'new-year',
    begins: '2026-12-31T20:00Z',
    minutes: hours(4.5),
    happenings: [happens('2:00', '0:01', 'a day, a month and a year end', nothing)],
  },
  {
    name: 'sidecars',
    begins: '2026-03-13T08:00Z',
    minutes: hours(7),
    exporters: Object.fromEntries(sidecars.map((name) => [name, sidecar])),
    happenings: [
      ...sidecars
        .slice(0, 20)
        .map((name) => happens('1:00', '2:00', 'a sidecar ends and comes again', remove(name, sidecar))),
      happens(
        '4:00',
        '1:00',
        'an application with fifty sidecars fails',
        status('acme', 0, 'failing'),
        pages('ApplicationFailing', 12, { ...ofAcme, app_id: idOf('acme', 'applications') }),
      ),
      happens(
        '5:30',
        '0:30',
        'the key of fifty sidecars is refused',
        refuse('acme'),
        pages('KeyRefused', 15, ofAcme),
      ),
      ...sidecars.map((name, place) =>
        happens(`6:${10 + (place % 40)}`, '0:01', 'a sidecar ends', end(name)),
      ),
    ],
  },
  {
    name: 'together',
    begins: '2026-03-16T06:00Z',
    minutes: hours(12.5),
    kinds: [
      'application',
      'application_overview',
      'pull_zone',
      'pull_zone_statistics',
      'shield_zone',
      'dns_record',
    ],
    exporters: oneEach,
    happenings: [
      happens(
        '0:30',
        '3:00',
        'a fifth of the answers of a zone of umbrella is 5xx',
        traffic('umbrella', 0, { errors: 0.2 }),
        pages('PullZoneServerErrors', 35, { pull_zone_id: idOf('umbrella', 'pullZones') }, 60),
      ),
      atOnce(
        happens(
          '1:15',
          '1:15',
          'the core API answers nothing',
          fail({ api: 'core' }, 'no answer'),
          pages('ApiUnreadable', 25, { api: 'core' }),
        ),
      ),
      happens(
        '1:30',
        '1:00',
        'an application of acme fails in an outage of another API',
        status('acme', 0, 'failing'),
        pages('ApplicationFailing', 12, { app_id: idOf('acme', 'applications') }),
      ),
      atOnce(
        happens(
          '5:00',
          '1:00',
          'all APIs answer 502',
          fail({}, 502),
          pages('ApiUnreadable', 22, { api: '' }),
        ),
      ),
      happens(
        '5:15',
        '1:30',
        'the key of acme is refused, which nobody sees in the outage',
        refuse('acme'),
        pages('KeyRefused', 65, ofAcme),
      ),
      atOnce(
        happens(
          '8:30',
          '1:00',
          'the core API answers 500',
          fail({ api: 'core' }, 500),
          pages('ApiUnreadable', 20, { api: 'core' }),
        ),
      ),
      happens(
        '8:50',
        '0:01',
        'both exporters are rolled out in the outage',
        both(replace('acme'), replace('umbrella')),
      ),
      happens('9:10', '0:02', 'an exporter is restarted in the outage', stop('acme')),
      happens(
        '11:00',
        '1:00',
        'a zone of acme is suspended',
        set('acme', 'pull_zone', { Suspended: true }, 'Items', 1),
        pages('PullZoneSuspended', 20, { pull_zone_id: idOf('acme', 'pullZones', 1) }),
      ),
      happens(
        '11:05',
        '1:00',
        'an application of umbrella is suspended',
        status('umbrella', 0, 'suspended'),
        pages('ApplicationSuspended', 12, { app_id: idOf('umbrella', 'applications') }),
      ),
      happens(
        '11:10',
        '1:00',
        'an application of umbrella fails',
        status('umbrella', 1, 'failing'),
        pages('ApplicationFailing', 12, { app_id: idOf('umbrella', 'applications', 1) }),
      ),
    ],
  },
];
