/** The pull zones of an account and their bill (`/pullzone`): one paged listing gives them all. */
import { defineListedResource, defineListing } from '../define.ts';
import { coded, count, type FamilyOf, flag, gauge, label, shown } from '../families.ts';
import {
  boolean,
  codeName,
  codeState,
  id,
  integer,
  listOf,
  object,
  reference,
  text,
  type ValueOf,
} from '../fields.ts';

const originTypes =
  'origin_url dns_accelerate storage_zone load_balancer edge_script magic_containers push_zone'.split(' ');

/** How a certificate came to be, by its code. The API does not say when it ends. */
const provisions = [
  'unknown',
  ['http01', 'HttpZeroOne'],
  ['dns01', 'DnsZeroOne'],
  'custom',
  'managed',
] as const;

const hostname = object({
  Value: text,
  IsSystemHostname: boolean,
  ForceSSL: boolean,
  HasCertificate: boolean,
  CertificateProvisionType: codeState(provisions),
}).ignoring('Id IsManagedHostname CertificateKeyType Certificate CertificateKey');
type Hostname = ValueOf<typeof hostname>;

/** A zone without a certificate can still have a type of one. */
function certificateOf({ HasCertificate, CertificateProvisionType = 'unknown' }: Hostname): string {
  return HasCertificate === false ? 'none' : CertificateProvisionType;
}

type NamedHostname = Hostname & { readonly Value: string };

/** Without the hostnames of bunny.net, which have its own certificate. */
function ownOf(all: readonly (Hostname | undefined)[]): readonly Hostname[] {
  return all.flatMap((one) => (one && one.IsSystemHostname !== true ? [one] : []));
}

function namedIn(all: readonly (Hostname | undefined)[]): readonly NamedHostname[] {
  return ownOf(all).filter((one): one is NamedHostname => Boolean(one.Value));
}

const hostnames = shown(
  listOf(hostname),
  {
    name: 'hostname_info',
    words:
      'The hostnames of the pull zone but those of bunny.net, how their certificate was provisioned, and whether they redirect to HTTPS (%s: Value, HasCertificate, CertificateProvisionType, ForceSSL)',
    labels: ['hostname', 'certificate', 'force_ssl'],
    series: (all) =>
      namedIn(all).map((one) => ({
        labels: {
          hostname: one.Value,
          certificate: certificateOf(one),
          force_ssl: String(one.ForceSSL ?? ''),
        },
        value: 1,
      })),
  },
  {
    name: 'hostnames_without_certificate',
    words: 'Hostnames of the pull zone without a certificate, but those of bunny.net (%s: HasCertificate)',
    series: (all) => ownOf(all).filter(({ HasCertificate }) => HasCertificate === false).length,
  },
);

/** Their triggers and parameters are not read: they can hold secrets. */
const edgeRules = shown(
  listOf(object({ Enabled: boolean }).ignoring('Guid')),
  { name: 'edge_rules', words: 'Number of edge rules (length of the %s)', series: (all) => all.length },
  {
    name: 'edge_rules_enabled',
    words: 'Number of edge rules that are enabled (%s: Enabled)',
    series: (all) => all.filter((one) => one?.Enabled === true).length,
  },
);

/** Only what is named here is read: an answer also holds keys, and an origin's address can hold a password. */
const zone = object({
  Id: id,
  Name: label('name'),
  OriginType: label('origin_type', codeName(originTypes)),
  StorageZoneId: label('storage_zone_id', reference),
  EdgeScriptId: label('script_id', reference),
  MagicContainersAppId: label('app_id'),
  VideoLibraryId: label('library_id', reference),
  Enabled: flag('enabled', 'Whether the pull zone is enabled'),
  Suspended: flag('suspended', 'Whether the pull zone is suspended'),
  Type: coded('type', 'Network of the pull zone', ['premium', 'volume']),
  MonthlyBandwidthUsed: count(
    'monthly_bandwidth_bytes',
    'Bandwidth used in this calendar month; resets with the next',
  ),
  MonthlyBandwidthLimit: count('monthly_bandwidth_limit_bytes', 'Monthly bandwidth limit; 0 means no limit'),
  MonthlyCharges: gauge(
    'monthly_charges_dollars',
    'Charges in this calendar month in US dollars; resets with the next',
  ),
  Hostnames: hostnames,
  OptimizerEnabled: flag('optimizer_enabled', 'Whether Bunny Optimizer is enabled'),
  EnableOriginShield: flag('origin_shield_enabled', 'Whether Origin Shield is enabled'),
  EnableSafeHop: flag('safehop_enabled', 'Whether SafeHop is enabled'),
  EdgeRules: edgeRules,
  EnableLogging: flag('logging_enabled', 'Whether requests are logged'),
  LogForwardingEnabled: flag('log_forwarding_enabled', 'Whether logs are forwarded'),
  VerifyOriginSSL: flag('verify_origin_ssl', 'Whether the certificate of the origin is verified'),
  EnableAutoSSL: flag('auto_ssl_enabled', 'Whether certificates of hostnames are issued automatically'),
  DisableLetsEncrypt: shown(boolean, {
    name: 'lets_encrypt_enabled',
    words: "Whether certificates of Let's Encrypt may be issued: 1 yes, 0 no (1 less %s)",
    series: (value) => 1 - Number(value),
  }),
  EnableTLS1: boolean,
  TlsSecurityLevel: coded('tls_security_level', 'Which versions and ciphers of TLS are taken', [
    'legacy',
    'compatible',
    'modern',
  ]),
  OriginShieldEnableConcurrencyLimit: boolean,
  OriginShieldMaxConcurrentRequests: integer,
  OriginShieldMaxQueuedRequests: integer,
  OriginShieldQueueMaxWaitTime: integer,
}).ignoring(`OriginUrl ZoneSecurityKey CnameDomain AWSSigningKey AWSSigningSecret LogForwardingToken
  LogForwardingHostname OriginShieldZoneCode LoadBalancerId MiddlewareScriptId MagicContainersEndpointId
  EnableExtendedLogging LoggingSaveToStorage EnableTLS1_1 UseStaleWhileOffline
  UseStaleWhileUpdating EnableWebSockets ShieldDDosProtectionEnabled LogForwardingProtocol LogFormat
  LogForwardingFormat ShieldDDosProtectionType PermaCacheType OriginConnectTimeout OriginResponseTimeout
  OriginRetryDelay RequestCoalescingTimeout OriginRetries MaxWebSocketConnections`);
type Zone = ValueOf<typeof zone>;

/** The stricter levels of TLS refuse TLS 1.0, whatever its own switch says. */
const tls1: FamilyOf<Zone> = {
  name: 'tls1_enabled',
  words: 'Whether TLS 1.0 is taken: 1 yes, 0 no (%s: not where the second is 1 or 2)',
  fields: ['EnableTLS1', 'TlsSecurityLevel'],
  series({ EnableTLS1, TlsSecurityLevel = 0 }) {
    if (TlsSecurityLevel === 1 || TlsSecurityLevel === 2) return 0;
    return EnableTLS1 === undefined ? undefined : Number(EnableTLS1);
  },
};

/** A limit of Origin Shield. The API gives a number even while the limits are off. */
function limit(
  name: string,
  words: string,
  field:
    | 'OriginShieldMaxConcurrentRequests'
    | 'OriginShieldMaxQueuedRequests'
    | 'OriginShieldQueueMaxWaitTime',
): FamilyOf<Zone> {
  return {
    name,
    words: `${words} (%s: only while the second is on)`,
    fields: [field, 'OriginShieldEnableConcurrencyLimit'],
    series: (given) => (given.OriginShieldEnableConcurrencyLimit ? given[field] : undefined),
  };
}

const limits = [
  limit(
    'origin_shield_max_concurrent_requests',
    'Maximum number of concurrent requests from Origin Shield to the origin',
    'OriginShieldMaxConcurrentRequests',
  ),
  limit(
    'origin_shield_max_queued_requests',
    'Maximum number of requests that Origin Shield queues',
    'OriginShieldMaxQueuedRequests',
  ),
  limit(
    'origin_shield_max_queue_wait_seconds',
    'Maximum time that a request waits in the queue of Origin Shield',
    'OriginShieldQueueMaxWaitTime',
  ),
];

export const pullZones = defineListing({
  kind: 'pull_zone',
  product: 'CDN',
  nouns: 'pull zones',
  path: '/pullzone',
  element: zone,
  ids: [{ label: 'pull_zone_id', setting: 'id', form: 'integer' }],
  features: ['OptimizerEnabled', 'EnableOriginShield', 'EnableSafeHop'],
});

/** What service discovery says of a pull zone. */
export interface ZoneHostnames {
  readonly name: string | undefined;
  readonly hostnames: readonly { readonly hostname: string; readonly certificate: string }[];
}

/** A reading that does not say which hostnames there are leaves them as they were. */
function zoneHostnames({ Name: name, Hostnames }: Zone, before: unknown): ZoneHostnames {
  if (!Hostnames) return { name, hostnames: (before as ZoneHostnames | undefined)?.hostnames ?? [] };
  const hostnames = namedIn(Hostnames).map((one) => ({
    hostname: one.Value,
    certificate: certificateOf(one),
  }));
  return { name, hostnames };
}

export const pullZone = defineListedResource({
  noun: 'pull zone',
  section: 'pull_zones',
  listing: pullZones,
  families: (own) => [...own, tls1, ...limits],
  extract: zoneHostnames,
  info: 'The name of the pull zone, its origin type and the ids of what it points to',
});
