/**
 * Values that the chart is rendered with, each for one way to run it. Knows the chart's values, not its manifests.
 */
type Values = Readonly<Record<string, unknown>>;

const account = { name: 'account', existingSecret: 'bunnynet' };
const oneApplication = {
  credentials: [account],
  config: { applications: { targets: ['HbqFNk0KZjzYOcp'] } },
};

/** Ways to run the chart. The manifests of some are in golden/; all are checked against the schemas of Kubernetes. */
export const cases: Readonly<Record<string, Values>> = {
  demo: { demo: true },
  account: { existingSecret: 'bunnynet' },
  'many-credentials': {
    credentials: [
      account,
      { name: 'second-account', existingSecret: 'bunnynet', key: 'second' },
      { name: 'library-4711', existingSecret: 'bunnynet-stream', key: 'library.4711' },
    ],
    config: {
      applications: {
        credential: 'account',
        targets: ['HbqFNk0KZjzYOcp', { id: 'q7TzVb2', credential: 'second-account', interval: '30s' }],
      },
      shield_zones: { credential: 'account', targets: 'all' },
      video_storage: {
        credential: 'library-4711',
        targets: [{ library_id: 4711, video_id: '0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f', name: 'trailer' }],
      },
    },
  },
  'pod-monitor': {
    existingSecret: 'bunnynet',
    service: { enabled: false },
    podMonitor: {
      enabled: true,
      interval: '30s',
      namespace: 'prometheus',
      labels: { release: 'prometheus' },
      jobLabel: 'app.kubernetes.io/name',
      podTargetLabels: ['app.kubernetes.io/instance'],
      sampleLimit: 5000,
    },
    probes: { startup: { strict: true } },
    global: { imageRegistry: 'images.example.com/mirror' },
  },
  'own-configuration': {
    existingSecret: 'bunnynet',
    existingSecretKey: 'second',
    existingConfigMap: 'bunnynet-config',
  },
  'large-numbers': {
    credentials: [account],
    config: {
      shield_zones: { targets: [1, 1000000, 12345678, 9007199254740991, '18446744073709551615'] },
      applications: { targets: ['123456789012345678901234567890', '1e6', '007'] },
      apis: { core: { max_response_bytes: 1000000 } },
    },
    terminationGracePeriodSeconds: 1000000,
  },
  'discovery-of-a-part': {
    existingSecret: 'bunnynet',
    config: { discovery: { interval: '20m', except: ['audit_log'], exclude: ['.*staging'] } },
  },
  'videos-beside-everything': {
    existingSecret: 'bunnynet',
    config: { video_storage: { targets: 'all' } },
  },
  'some-of-two-accounts': {
    existingSecret: 'bunnynet',
    credentials: [{ name: 'second', existingSecret: 'bunnynet', key: 'second' }],
    config: { accounts: ['account', 'second'], discovery: { exclude: ['.*staging'] } },
  },
  'two-accounts-by-discovery': {
    existingSecret: 'bunnynet',
    credentials: [{ name: 'second', existingSecret: 'bunnynet', key: 'second' }],
    config: { discovery: { accounts: ['account', 'second'] } },
  },
  'an-account-and-a-library': {
    existingSecret: 'bunnynet',
    credentials: [{ name: 'library-4711', existingSecret: 'bunnynet-stream', key: 'library.4711' }],
    config: { discovery: { kinds: 'all' }, video_storage: { credential: 'library-4711', targets: 'all' } },
  },
  stopped: {
    ...oneApplication,
    replicas: 0,
    state: { enabled: true, claim: { enabled: true } },
    podDisruptionBudget: { enabled: true },
    serviceMonitor: { enabled: true },
  },
  'strategy-recreate': { ...oneApplication, strategy: { type: 'Recreate' } },
  'state-claim-and-recreate': {
    ...oneApplication,
    strategy: { type: 'Recreate' },
    state: { enabled: true, claim: { enabled: true } },
  },
  'state-claim': { ...oneApplication, state: { enabled: true, claim: { enabled: true } } },
  'state-of-another-class': {
    ...oneApplication,
    fullnameOverride: 'counters-elsewhere',
    state: { enabled: true, claim: { enabled: true, size: '1Gi', storageClassName: 'fast' } },
  },
  tls: {
    ...oneApplication,
    web: { port: 9443, telemetryPath: '/figures', config: { existingSecret: 'bunnynet-web', tls: true } },
    service: { port: 443 },
    serviceMonitor: {
      enabled: true,
      tlsConfig: { insecureSkipVerify: true },
      basicAuth: { username: { name: 'auth', key: 'user' }, password: { name: 'auth', key: 'password' } },
    },
  },
  'requires-auth': {
    ...oneApplication,
    web: { config: { existingSecret: 'bunnynet-web', tls: true, requiresAuth: true } },
    probes: { startup: { strict: true } },
  },
  everything: {
    ...oneApplication,
    nameOverride: 'edge',
    namespaceOverride: 'metrics',
    commonLabels: { team: 'platform' },
    reload: 'endpoint',
    image: {
      registry: 'images.example.com',
      repository: 'edge/bunnynet-exporter',
      digest: `sha256:${'0123456789abcdef'.repeat(4)}`,
      pullPolicy: 'Always',
    },
    imagePullSecrets: [{ name: 'pull' }],
    log: { level: 'debug', format: 'pretty' },
    service: {
      type: 'NodePort',
      port: 80,
      nodePort: 30057,
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv6', 'IPv4'],
      annotations: { a: 'b' },
      labels: { c: 'd' },
    },
    serviceMonitor: {
      enabled: true,
      interval: '30s',
      scrapeTimeout: '10s',
      namespace: 'prometheus',
      labels: { release: 'prometheus' },
      annotations: { a: 'b' },
      jobLabel: 'app.kubernetes.io/instance',
      targetLabels: ['team'],
      honorLabels: true,
      sampleLimit: 1000000,
      relabelings: [{ targetLabel: 'cluster', replacement: 'one' }],
      metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'nodejs_.*', action: 'drop' }],
    },
    prometheusRule: {
      enabled: true,
      namespace: 'prometheus',
      annotations: { a: 'b' },
      labels: { release: 'prometheus' },
      disabled: ['BunnynetApplicationNotActive'],
      alertLabels: { team: 'edge' },
      alertAnnotations: { team: 'edge' },
      alerts: { BunnynetApplicationFailing: { for: '2m', exclude: { app_id: ['HbqFNk0KZjzYOcp'] } } },
      additionalGroups: [
        { name: 'own', rules: [{ record: 'own:up', expr: 'sum(bunnynet_application_up)' }] },
      ],
    },
    dashboards: { enabled: true, annotations: { grafana_folder: 'bunny.net' } },
    networkPolicy: {
      enabled: true,
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      egressPorts: [443, 8443],
      additionalEgress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }],
    },
    podDisruptionBudget: { enabled: true, maxUnavailable: '50%' },
    serviceAccount: { name: 'edge', annotations: { a: 'b' } },
    startupProbe: { httpGet: { path: '/-/healthy', port: 'http' }, failureThreshold: 30 },
    strategy: { type: 'Recreate', rollingUpdate: null },
    hostAliases: [{ ip: '192.0.2.1', hostnames: ['api.bunny.net'] }],
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['192.0.2.53'] },
    priorityClassName: 'high',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'edge', operator: 'Exists' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
        },
      },
    },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
    ],
    podAnnotations: { a: 'b' },
    podLabels: { c: 'd' },
    annotations: { e: 'f' },
    extraArgs: ['--web.listen-address=[::1]:10057'],
    extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/own/ca.pem' }],
    extraEnvFrom: [{ configMapRef: { name: 'proxy', optional: true } }],
    extraVolumes: [{ name: 'own-ca', configMap: { name: 'own-ca' } }],
    extraVolumeMounts: [{ name: 'own-ca', mountPath: '/etc/own', readOnly: true }],
    extraContainers: [{ name: 'beside', image: 'beside:1' }],
    initContainers: [{ name: 'before', image: 'before:1' }],
    extraManifests: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: '{{ include "bunnynet-exporter.fullname" . }}-own' },
      },
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-text\n',
    ],
    test: { annotations: { 'sidecar.istio.io/inject': 'false' } },
  },
};

/** What no case above switches, set to its other value. */
export const switches: Readonly<Record<string, Values>> = {
  'without a Service': { service: { enabled: false } },
  'without a ServiceAccount': { serviceAccount: { create: false } },
  'with an existing ServiceAccount': { serviceAccount: { create: false, name: 'existing' } },
  'with a tag': { image: { tag: 'next' } },
  'with a web configuration without TLS': { web: { config: { existingSecret: 'web' } } },
  'with another name': { fullnameOverride: `long-${'name-'.repeat(12)}end` },
  'with a state that outlives the container': { state: { enabled: true } },
  'with a state in a claim that is there': {
    state: { enabled: true, claim: { enabled: true, existing: 'counters' } },
  },
  'without probes': { livenessProbe: null, readinessProbe: null },
  'without security contexts': { podSecurityContext: null, securityContext: null },
  'without resources': { resources: null },
};

/** The values that switches are changed from, one at a time. */
export const plain = oneApplication;

/** Settings of the rules, for `prometheusRule` and for the plain files. */
export const ruleSettings: Readonly<Record<string, Values>> = {
  unchanged: {},
  'without some alerts': { disabled: ['BunnynetApplicationNotActive', 'BunnynetExporterAbsent'] },
  'with other thresholds and times': {
    alerts: {
      BunnynetApplicationLatencyLeap: { for: '1h30m', thresholds: { ratio: 5 } },
      BunnynetApplicationVolumeGrowth: {
        keepFiringFor: '',
        thresholds: { share: 0.05, gigabytes: 10_000_000 },
      },
      BunnynetApplicationSuspended: { keepFiringFor: '10m' },
      BunnynetSchemaDrift: { thresholds: { answers: 1e-7 } },
      BunnynetApiUnreadable: { for: '0m' },
      BunnynetApplicationFailing: { for: '0m0s' },
    },
  },
  'with labels and annotations': {
    alertLabels: { team: 'edge', page: 'yes' },
    alertAnnotations: {
      dashboard: 'https://grafana.example/d/bunnynet?var-application={{ $labels.app_id }}',
    },
    alerts: {
      BunnynetApplicationFailing: {
        labels: { severity: 'warning', page: 'no' },
        annotations: { summary: 'Ours: "{{ $labels.app_id }}" <fails> & more' },
      },
    },
  },
  'without some targets': {
    alerts: {
      BunnynetApplicationNotActive: { exclude: { app_id: ['HbqFNk0KZjzYOcp', 'q7.TzVb2'] } },
      BunnynetShieldBlockedRequestsRising: { exclude: { shield_zone_id: ['501'], endpoint_id: ['7'] } },
      BunnynetShieldLearningModeEnding: { exclude: { shield_zone_id: ['501'] } },
    },
  },
};

/** Values that the chart must refuse, and what the message must name. */
export const refusals: Readonly<
  Record<string, { readonly values: Values; readonly naming: readonly RegExp[] }>
> = {
  'durations that are none': {
    values: {
      ...oneApplication,
      config: { applications: { targets: 'all', interval: '5x' } },
      serviceMonitor: { interval: 'often' },
      prometheusRule: { alerts: { BunnynetRequestRateTooLow: { for: '5 m', keepFiringFor: 'x' } } },
    },
    naming: [
      'config.applications.interval',
      'serviceMonitor.interval',
      'prometheusRule.alerts.BunnynetRequestRateTooLow.for',
      'prometheusRule.alerts.BunnynetRequestRateTooLow.keepFiringFor',
    ].map((path) => new RegExp(`'${path}': value must be 'a duration, such as 30s'`)),
  },
  'a severity for all alerts': {
    values: { ...oneApplication, prometheusRule: { enabled: true, alertLabels: { severity: 'info' } } },
    naming: [/alertLabels\.severity': value must be 'a severity of single alerts only, in alerts/],
  },
  'an account for all alerts': {
    values: { ...oneApplication, prometheusRule: { enabled: true, alertLabels: { account: 'acme' } } },
    naming: [/prometheusRule: the label account cannot be added/],
  },
  'no key': { values: {}, naming: [/existingSecret: name the Secret.*demo=true/] },
  'a configuration without a key': {
    values: { config: oneApplication.config },
    naming: [/existingSecret: name the Secret/],
  },
  'several credentials without a configuration': {
    values: { existingSecret: 'bunnynet', credentials: [{ name: 'second', existingSecret: 'bunnynet' }] },
    naming: [/config\.accounts: with several credentials, list those that are an account's key/],
  },
  'several credentials and nothing but what is left out': {
    values: {
      existingSecret: 'bunnynet',
      credentials: [{ name: 'second', existingSecret: 'bunnynet' }],
      config: { discovery: { exclude: '.*staging' } },
    },
    naming: [/config\.accounts: with several credentials, list those that are an account's key/],
  },
  'several credentials and all kinds': {
    values: {
      existingSecret: 'bunnynet',
      credentials: [{ name: 'second', existingSecret: 'bunnynet' }],
      config: { discovery: { kinds: 'all' } },
    },
    naming: [/config\.accounts: with several credentials, list those that are an account's key/],
  },
  'several credentials and a section that names none': {
    values: {
      existingSecret: 'bunnynet',
      credentials: [{ name: 'second', existingSecret: 'bunnynet' }],
      config: { pull_zones: { targets: 'all' } },
    },
    naming: [/config\.accounts: with several credentials, list those that are an account's key/],
  },
  'a credential that nothing uses': {
    values: {
      existingSecret: 'bunnynet',
      credentials: [{ name: 'second', existingSecret: 'bunnynet' }],
      config: { accounts: ['account'] },
    },
    naming: [/credentials: nothing uses "second"; name it in config.accounts/],
  },
  'a credential that nothing uses beside a section of another one': {
    values: {
      credentials: [account, { name: 'second', existingSecret: 'bunnynet' }],
      config: { discovery: { kinds: 'all' }, pull_zones: { credential: 'account', targets: 'all' } },
    },
    naming: [/credentials: nothing uses "second"/],
  },
  'nothing to poll': {
    values: { existingSecret: 'bunnynet', config: { discovery: { kinds: 'none' } } },
    naming: [/config.discovery.kinds: with none and no section nothing is polled/],
  },
  'an account that is no credential': {
    values: { ...oneApplication, config: { accounts: ['acount'] } },
    naming: [/config\.accounts: "acount" is no credential; they are account/],
  },
  'a configuration twice': {
    values: { ...oneApplication, existingConfigMap: 'own' },
    naming: [/existingConfigMap.*leave config empty/],
  },
  'two Secrets for the account': {
    values: { ...oneApplication, existingSecret: 'bunnynet' },
    naming: [/"account" is given twice/],
  },
  'two monitors': {
    values: { ...oneApplication, serviceMonitor: { enabled: true }, podMonitor: { enabled: true } },
    naming: [/serviceMonitor, podMonitor.*scraped twice/],
  },
  'a ServiceMonitor without a Service': {
    values: { ...oneApplication, serviceMonitor: { enabled: true }, service: { enabled: false } },
    naming: [/serviceMonitor.*service.enabled=true.*podMonitor/],
  },
  'a telemetry path in extraArgs, unknown to monitors': {
    values: { ...oneApplication, extraArgs: ['--web.telemetry-path=/figures'] },
    naming: [/web.telemetryPath/],
  },
  'a probe port that is set twice': {
    values: {
      ...oneApplication,
      web: { config: { existingSecret: 'web', requiresAuth: true } },
      extraArgs: ['--web.probe-address=:1'],
    },
    naming: [/extraArgs: set web.probePort/],
  },
  'two startup probes': {
    values: {
      ...oneApplication,
      startupProbe: { httpGet: { path: '/-/healthy', port: 'http' } },
      probes: { startup: { strict: true } },
    },
    naming: [/probes.startup.strict/],
  },
  'a probe port that is in use': {
    values: {
      ...oneApplication,
      web: { port: 10058, config: { existingSecret: 'web', requiresAuth: true } },
    },
    naming: [/web.probePort.*other than web.port/],
  },
  'a monitor path that is not served': {
    values: { ...oneApplication, serviceMonitor: { enabled: true, path: '/figures' } },
    naming: [/serviceMonitor/, /path/],
  },
  'a node port for a ClusterIP Service': {
    values: { ...oneApplication, service: { nodePort: 30057 } },
    naming: [/service.nodePort: only with service.type NodePort or LoadBalancer/],
  },
  'two places for the state': {
    values: { ...oneApplication, state: { enabled: true }, extraArgs: ['--state.file=/other/state.json'] },
    naming: [/extraArgs: state.enabled sets --state.file/],
  },
  'a place for the state in the configuration, too': {
    values: {
      ...oneApplication,
      state: { enabled: true },
      config: { ...oneApplication.config, state: { file: '/other/state.json' } },
    },
    naming: [/config.state.file: state.enabled says where/],
  },
  'a claim for no state': {
    values: { ...oneApplication, state: { claim: { enabled: true } } },
    naming: [/state.claim.enabled: only with state.enabled/],
  },
  'an unknown alert': {
    values: { ...oneApplication, prometheusRule: { disabled: ['BunnynetApplicationsFailing'] } },
    naming: [/prometheusRule.disabled: there is no alert "BunnynetApplicationsFailing"/],
  },
  'a threshold that is not a number': {
    values: {
      ...oneApplication,
      prometheusRule: { alerts: { BunnynetRequestRateTooLow: { thresholds: { share: '1m' } } } },
    },
    naming: [/alerts.BunnynetRequestRateTooLow.thresholds.share': got string, want number/],
  },
  'a label that identifies alerts': {
    values: { ...oneApplication, prometheusRule: { enabled: true, alertLabels: { namespace: 'other' } } },
    naming: [/the label namespace cannot be added to Bunnynet\w+: its expression goes by it/],
  },
  'a demo with a configuration': {
    values: { ...oneApplication, demo: true },
    naming: [/leave config.*empty/],
  },
  'the same credential twice': {
    values: { ...oneApplication, credentials: [account, account] },
    naming: [/"account" is given twice/],
  },
  'a credential that is also in the configuration': {
    values: {
      credentials: [account],
      config: { ...oneApplication.config, credentials: { account: { env: 'KEY' } } },
    },
    naming: [/"account" is given twice/],
  },
  'a key in the values': {
    values: { ...oneApplication, credentials: [{ ...account, accessKey: 'secret' }] },
    naming: [/credentials/, /accessKey/],
  },
  'an unknown value': { values: { ...oneApplication, replica: 2 }, naming: [/replica/] },
  'more than one Pod': {
    values: { ...oneApplication, replicas: 2 },
    naming: [/replicas: one is enough/],
  },
  'a strategy that a claim cannot have': {
    values: {
      ...oneApplication,
      strategy: { rollingUpdate: { maxUnavailable: 1 } },
      state: { enabled: true, claim: { enabled: true } },
    },
    naming: [/strategy: with state.claim.enabled it is Recreate, since two Pods cannot write one file/],
  },
  'a strict start with a claim': {
    values: {
      ...oneApplication,
      probes: { startup: { strict: true } },
      state: { enabled: true, claim: { enabled: true, existing: 'counters' } },
    },
    naming: [/probes.startup.strict: with state.claim.enabled the old Pod ends before the new one starts/],
  },
  'a misspelt key of the configuration': {
    values: { ...oneApplication, config: { applications: { target: ['HbqFNk0KZjzYOcp'] } } },
    naming: [/config.applications/, /target/],
  },
  'an id that Helm would change': {
    values: { ...oneApplication, config: { shield_zones: { targets: [2 ** 60] } } },
    naming: [/config.shield_zones.targets/],
  },
};
