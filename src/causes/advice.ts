/** What to do about each reason, how bad it is, and the page that says more. */

interface Advice {
  readonly tone: 'bad' | 'warn';
  readonly advice: string;
  /** The page that says more, below docs: the runbook of an alert, where there is one. */
  readonly runbook: string;
}

const findKey = "Copy the account's API key from the account settings of the bunny.net dashboard";
const libraryKey = "Copy the library's own API key from its page in the dashboard, not the read-only one";
const ownKey =
  "Name a credential that has the library's own key (`credential: films`) in a section that reads this library alone. Nothing is sent until then";
const whenRead =
  'A key file is read again within ten seconds. A variable, a credential of systemd and a secret of Podman need a restart.';
const lookAtStatus = 'Look at https://status.bunny.net. The exporter retries.';

/** The advice by reason. The worst reason comes first. */
const advices = {
  reload: {
    tone: 'bad',
    advice: 'Correct what it names, and reload again.',
    runbook: 'runbooks/BunnynetReloadFailed.md',
  },
  refused: { tone: 'bad', advice: `${findKey}. ${whenRead}`, runbook: 'runbooks/BunnynetKeyRefused.md' },
  same_key: {
    tone: 'bad',
    advice: `Give this account its own key. ${whenRead}`,
    runbook: 'runbooks/BunnynetSameKeyTwice.md',
  },
  unreadable_key: {
    tone: 'bad',
    advice: 'Correct the file or the variable that it names.',
    runbook: 'runbooks/BunnynetKeyRefused.md',
  },
  network: {
    tone: 'bad',
    advice: 'Check the connection of this machine: its DNS, its firewall, its proxy.',
    runbook: 'runbooks/BunnynetApiUnreadable.md',
  },
  address: { tone: 'bad', advice: 'Correct this address.', runbook: 'runbooks/BunnynetApiUnreadable.md' },
  server_error: { tone: 'bad', advice: lookAtStatus, runbook: 'runbooks/BunnynetApiUnreadable.md' },
  timeout: {
    tone: 'bad',
    advice: `${lookAtStatus} If only large answers are late, raise the timeout of this API.`,
    runbook: 'runbooks/BunnynetApiUnreadable.md',
  },
  schema: {
    tone: 'bad',
    advice: 'Update the exporter. If that does not help, send us a report (--report).',
    runbook: 'runbooks/BunnynetSchemaDrift.md',
  },
  rejected: {
    tone: 'bad',
    advice: 'The reason is what the API says.',
    runbook: 'runbooks/BunnynetKindUnreadable.md',
  },
  former_key: {
    tone: 'warn',
    advice: `Correct it: a restart and a reload need it. ${whenRead}`,
    runbook: 'runbooks/BunnynetKeyRefused.md',
  },
  no_key: { tone: 'warn', advice: `${ownKey}.`, runbook: 'runbooks/BunnynetKeyRefused.md' },
  read_only_key: { tone: 'warn', advice: `${ownKey}.`, runbook: 'runbooks/BunnynetKeyRefused.md' },
  library_key: {
    tone: 'warn',
    advice: `${libraryKey}. ${whenRead}`,
    runbook: 'runbooks/BunnynetKeyRefused.md',
  },
  denied: {
    tone: 'warn',
    advice: 'Use a key that may read this, or leave these kinds out.',
    runbook: 'runbooks/BunnynetKeyRefused.md',
  },
  rate_limited: {
    tone: 'warn',
    advice:
      'Set interval_factor: 2 (BUNNYNET_INTERVAL_FACTOR), or raise the intervals of single kinds. Lower requests_per_second of this API if other programs use the key, too.',
    runbook: 'runbooks/BunnynetApiPaused.md',
  },
  not_found: {
    tone: 'warn',
    advice: 'Remove what no longer exists from the configuration.',
    runbook: 'runbooks/BunnynetTargetNotFound.md',
  },
  unknown_id: {
    tone: 'warn',
    advice:
      'Correct the id, or remove it: it is mistyped, or what it names was deleted or belongs to another account.',
    runbook: 'runbooks/BunnynetTargetNotFound.md',
  },
  stale: {
    tone: 'warn',
    advice: 'Raise stale_after, or poll less.',
    runbook: 'runbooks/BunnynetReadingsStale.md',
  },
  state: {
    tone: 'warn',
    advice: 'Correct what it names; the exporter tries again every five minutes.',
    runbook: 'runbooks/BunnynetStateNotSaved.md',
  },
  pace: {
    tone: 'warn',
    advice: 'The runbook says how to choose.',
    runbook: 'runbooks/BunnynetRequestRateTooLow.md',
  },
  shared: {
    tone: 'warn',
    advice: 'If that is not meant, use the key of another team member, or leave them out with `exclude`.',
    runbook: 'configuration.md#several-accounts',
  },
  drift: {
    tone: 'warn',
    advice: 'Update the exporter. If that does not help, send us a report (--report).',
    runbook: 'runbooks/BunnynetSchemaDrift.md',
  },
} as const satisfies Readonly<Record<string, Advice>>;

export type Reason = keyof typeof advices;

export const reasons = Object.keys(advices) as readonly Reason[];

export function isReason(text: string): text is Reason {
  return Object.hasOwn(advices, text);
}

export function adviceOn(reason: Reason): Advice {
  const { runbook, ...rest } = advices[reason];
  return {
    ...rest,
    runbook: `https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/${runbook}`,
  };
}
