/** Whether those who were told are those who had to be told, in time and once. */
import type { Day, Happening, Told } from './happenings.ts';
import type { Notification } from './notifications.ts';
import type { Firing } from './rules.ts';
import type { Labels } from './samples.ts';

export interface Verdict {
  /** What is wrong, in words. */
  readonly faults: readonly string[];
  /** How many alerts were told, and how many of them rightly. */
  readonly told: number;
  readonly rightly: number;
  /** How many had to be told, and how many were in time. */
  readonly expected: number;
  readonly inTime: number;
}

const usualOver = 40;

const textOf = ({ alertname, ...labels }: Labels) => {
  const shown = Object.entries(labels).filter(([name]) => name !== 'severity' && name !== 'namespace');
  return `${alertname}{${shown.map(([name, value]) => `${name}=${value}`).join(',')}}`;
};

const hasLabels = (labels: Labels, of: Labels = {}) =>
  Object.entries(of).every(([name, value]) => (labels[name] ?? '') === value);

const overAt = ({ at, lasts }: Happening, { over = usualOver }: Told) => at + lasts + over;

/** accounts: whose alerts their customers are told, too. offset: the minute in which the day begins. */
export function judge(
  { name, happenings }: Day,
  firing: readonly Firing[],
  told: readonly Notification[],
  accounts: readonly string[],
  offset: number,
): Verdict {
  const faults: string[] = [];
  const found = new Map<Told, Notification>();
  const wanted = happenings.flatMap((happening) =>
    (happening.tells ?? []).map((one) => ({ happening, one })),
  );
  const say = (minute: number, text: string) => {
    const clock = (minutes: number) =>
      `${Math.floor(minutes / 60)}h${String(Math.floor(minutes % 60)).padStart(2, '0')}`;
    faults.push(`${name}, ${clock(minute)}: ${text}`);
  };
  const ofStaff = told.filter(({ receiver }) => !accounts.includes(receiver));
  let rightly = 0;
  for (const one of ofStaff) {
    const { labels, receiver } = one;
    const minute = one.minute - offset;
    const fitting = wanted.filter(
      ({ one: { alert, of } }) => alert === labels['alertname'] && hasLabels(labels, of),
    );
    const during = fitting.filter(
      ({ happening, one: each }) => minute >= happening.at && minute <= overAt(happening, each),
    );
    const [free] = during.filter(({ one: each }) => !found.has(each) && each.to === receiver);
    if (free) {
      found.set(free.one, one);
      const latest = free.happening.at + free.one.within;
      if (minute > latest)
        say(minute, `${textOf(labels)} is ${minute - latest} minutes late: ${free.happening.name}`);
      rightly++;
    } else if (during.some(({ one: each }) => found.has(each) && each.to === receiver))
      say(minute, `${textOf(labels)} is told again: ${during[0]?.happening.name}`);
    else if (during.length > 0)
      say(minute, `${textOf(labels)} is told to ${receiver}: ${during[0]?.happening.name}`);
    else if (fitting.some(({ happening }) => happening.at < minute))
      say(minute, `${textOf(labels)} is told after the end: ${fitting[0]?.happening.name}`);
    else {
      const meanwhile = happenings.filter(({ at, lasts }) => at <= minute && at + lasts + 120 >= minute);
      say(
        minute,
        `${textOf(labels)} is false; meanwhile: ${meanwhile.map((each) => each.name).join('; ') || 'nothing'}`,
      );
    }
    const { account } = labels;
    const reaches = told.some((each) => each.receiver === account && textOf(each.labels) === textOf(labels));
    if (account !== undefined && accounts.includes(account) && !reaches)
      say(minute, `${account} is not told ${textOf(labels)}`);
  }
  let inTime = 0;
  for (const { happening, one } of wanted) {
    const notification = found.get(one);
    const about = `${one.alert}{${Object.values(one.of ?? {}).join(',')}}`;
    if (!notification) {
      say(happening.at + one.within, `${about} is not told: ${happening.name}`);
      continue;
    }
    if (notification.minute - offset <= happening.at + one.within) inTime++;
    const { labels } = notification;
    const lateFrom = overAt(happening, one);
    const still = firing.find(
      (each) => textOf(each.labels) === textOf(labels) && each.labels['severity'] === labels['severity'],
    );
    const last = still?.minutes
      .filter((minute) => minute >= notification.minute)
      .findLast((minute, at, all) => minute - (all[0] ?? 0) === at);
    if (last !== undefined && last - offset > lateFrom)
      say(last - offset, `${about} ends ${last - offset - lateFrom} minutes late: ${happening.name}`);
  }
  for (const { name: happening, at, tells = [], isOneNotification } of happenings) {
    const deliveries = new Set(tells.flatMap((one) => found.get(one)?.delivery ?? []));
    if (isOneNotification && deliveries.size > 1) say(at, `${happening}: ${deliveries.size} notifications`);
  }
  return { faults, told: ofStaff.length, rightly, expected: wanted.length, inTime };
}
