/** What to do about each reason, how bad it is, and the page that says more. */

interface Advice {
  readonly tone: 'bad' | 'warn';
  readonly advice: string;
  /** The alert whose runbook it is. */
  readonly runbook: string;
}

const findKey = "Copy the account's API key from the account settings of the bunny.net dashboard";
const libraryKey = "Copy the library's own API key from its page in the dashboard, not the read-only one";
const ownKey =
  "Name a credential that has the library's own key (`credential: films`) in a section that reads this library alone. Nothing is sent until then";
const whenRead = 'A key file is read again at once, a variable only at a restart.';
const lookAtStatus = 'Look at https://status.bunny.net. The exporter retries.';

/** By reason, the worst first. */
const advices = {
  reload: {
    tone: 'bad',
    advice: 'Correct what it names, and reload again.',
    runbook: 'BunnynetReloadFailed',
  },
  refused: { tone: 'bad', advice: `${findKey}. ${whenRead}`, runbook: 'BunnynetKeyRefused' },
  unreadable_key: {
    tone: 'bad',
    advice: 'Correct the file or the variable that it names.',
    runbook: 'BunnynetKeyRefused',
  },
  network: {
    tone: 'bad',
    advice: 'Check the connection of this machine: its DNS, its firewall, its proxy.',
    runbook: 'BunnynetApiUnreadable',
  },
  address: { tone: 'bad', advice: 'Correct this address.', runbook: 'BunnynetApiUnreadable' },
  server_error: { tone: 'bad', advice: lookAtStatus, runbook: 'BunnynetApiUnreadable' },
  timeout: {
    tone: 'bad',
    advice: `${lookAtStatus} If only large answers are late, raise the timeout of this API.`,
    runbook: 'BunnynetApiUnreadable',
  },
  schema: {
    tone: 'bad',
    advice: 'Update the exporter. If that does not help, send us a report (--report).',
    runbook: 'BunnynetSchemaDrift',
  },
  rejected: { tone: 'bad', advice: 'The reason is what the API says.', runbook: 'BunnynetKindUnreadable' },
  no_key: { tone: 'warn', advice: `${ownKey}.`, runbook: 'BunnynetKeyRefused' },
  read_only_key: { tone: 'warn', advice: `${ownKey}.`, runbook: 'BunnynetKeyRefused' },
  library_key: { tone: 'warn', advice: `${libraryKey}. ${whenRead}`, runbook: 'BunnynetKeyRefused' },
  denied: {
    tone: 'warn',
    advice: 'Use a key that may read this, or leave these kinds out.',
    runbook: 'BunnynetKeyRefused',
  },
  rate_limited: {
    tone: 'warn',
    advice: 'Lower requests_per_second of this API, or raise intervals.',
    runbook: 'BunnynetApiPaused',
  },
  not_found: {
    tone: 'warn',
    advice: 'Remove what no longer exists from the configuration.',
    runbook: 'BunnynetTargetNotFound',
  },
  stale: { tone: 'warn', advice: 'Raise stale_after, or poll less.', runbook: 'BunnynetReadingsStale' },
  max_series: {
    tone: 'warn',
    advice: 'Raise limits.max_series, or poll fewer targets.',
    runbook: 'BunnynetSeriesDropped',
  },
  pace: { tone: 'warn', advice: 'The runbook says how to choose.', runbook: 'BunnynetScheduleLag' },
  drift: {
    tone: 'warn',
    advice: 'Update the exporter. If that does not help, send us a report (--report).',
    runbook: 'BunnynetSchemaDrift',
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
    runbook: `https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks/${runbook}.md`,
  };
}
