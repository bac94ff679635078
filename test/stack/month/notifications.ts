/** A real Alertmanager, to which the alerts of all days are sent at once, a minute of theirs in a second. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { compress, startAlertmanager } from '../alerting.ts';
import type { Firing } from './rules.ts';
import type { Labels } from './samples.ts';

interface Settings {
  readonly route: object;
  readonly receivers: readonly { readonly name: string }[];
  readonly inhibit_rules: unknown;
}

/** The file that docs/alerts.md shows. */
function settingsOfDocs(): Settings {
  const [, section = ''] = /## Alertmanager\n(.*?)\n## /s.exec(readFileSync('docs/alerts.md', 'utf8')) ?? [];
  const [, whole = ''] = /```yaml\n(route:.*?)```/s.exec(section) ?? [];
  const settings = parse(compress(whole)) as Settings;
  // The defaults of Alertmanager, sixty times as fast.
  const fast = { group_wait: '500ms', group_interval: '5s', repeat_interval: '240s' };
  return { ...settings, route: { ...settings.route, ...fast } };
}

/** An alert that somebody was told. */
export interface Notification {
  readonly labels: Labels;
  readonly receiver: string;
  readonly minute: number;
  /** What came at once is one. */
  readonly delivery: number;
}

/** Longer than a group waits for more: what happens later does not depend on how much later. */
const quietMinutes = 7;

/** The minutes in which something begins or ends, and some after each. */
function busyMinutes(firing: readonly Firing[]): readonly number[] {
  const busy = new Set<number>();
  for (const { minutes } of firing)
    for (const [at, minute] of minutes.entries()) {
      const isFirst = minutes[at - 1] !== minute - 1;
      const isLast = minutes[at + 1] !== minute + 1;
      const from = isFirst ? minute - 1 : minute;
      if (isFirst || isLast) for (let later = from; later <= minute + quietMinutes; later++) busy.add(later);
    }
  return [...busy].toSorted((a, b) => a - b);
}

interface Sent {
  readonly labels: Labels;
  readonly startsAt: string;
  readonly endsAt: string;
}

/** Tells of the alerts of each day what Alertmanager tells, by the days. */
export async function notify(
  folder: string,
  days: ReadonlyMap<string, readonly Firing[]>,
): Promise<ReadonlyMap<string, readonly Notification[]>> {
  const { address, deliveries, close } = await startAlertmanager(folder, settingsOfDocs());
  await ready(address);
  const played = [...days].map(([day, firing]) => ({
    day,
    firing: firing.map(({ labels, minutes }) => ({ labels, minutes: new Set(minutes) })),
    minutes: busyMinutes(firing),
  }));
  const ticks = Math.max(...played.map(({ minutes }) => minutes.length));
  const told = new Map([...days.keys()].map((day) => [day, [] as Notification[]]));
  /** Of a receiver: what it was told and not told the end of. */
  const open = new Set<string>();
  let read = 0;
  const take = (tick: number) => {
    for (; read < deliveries.length; read++) {
      const { receiver = '', alerts = [] } = deliveries[read] ?? {};
      for (const { status, labels } of alerts) {
        const { namespace: day = '' } = labels;
        const { minutes = [] } = played.find((one) => one.day === day) ?? {};
        const key = `${receiver} ${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b)))}`;
        if (status === 'resolved') open.delete(key);
        else if (!open.has(key)) {
          open.add(key);
          told.get(day)?.push({
            labels,
            receiver,
            minute: minutes[Math.min(tick, minutes.length - 1)] ?? 0,
            delivery: read,
          });
        }
      }
    }
  };
  const since = new Map<string, Sent>();
  for (let tick = 0; tick < ticks + 8; tick++) {
    const now = new Date();
    const later = new Date(now.getTime() + 600_000).toISOString();
    const sent: Sent[] = [];
    for (const { day, firing, minutes } of played)
      for (const { labels, minutes: fires } of firing) {
        const own = { ...labels, namespace: day };
        const key = JSON.stringify(own);
        const minute = minutes[tick];
        if (minute !== undefined && fires.has(minute)) {
          const { startsAt } = since.get(key) ?? { startsAt: now.toISOString() };
          since.set(key, { labels: own, startsAt, endsAt: later });
          sent.push({ labels: own, startsAt, endsAt: later });
        } else {
          const was = since.get(key);
          if (was) sent.push({ ...was, endsAt: now.toISOString() });
          since.delete(key);
        }
      }
    if (sent.length > 0) {
      const { ok } = await fetch(`http://${address}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(sent),
      });
      if (!ok) throw new Error('Alertmanager takes no alerts');
    }
    // A busy machine takes longer, and never less: Alertmanager waits in real time.
    await sleep(Math.max(0, now.getTime() + 1000 - Date.now()));
    take(tick);
  }
  close();
  return told;
}

async function ready(address: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const isReady = await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await sleep(100);
  }
  throw new Error('Alertmanager does not begin');
}
