/**
 * Questions about the API that its documentation leaves open and the answers for a real account settle. Each looks at the
 * answers of one operation and prints what it found. It prints no value of the account: only the form of texts, and names that
 * consist of the words listed here.
 */

import { fieldOf, isObject, snakeCased } from '../resources/fields.ts';
import { applicationOverview } from '../resources/kinds/application-overview.ts';
import { billing } from '../resources/kinds/billing.ts';
import { databaseStatistics } from '../resources/kinds/database-statistics.ts';
import { loadBalancer } from '../resources/kinds/load-balancer.ts';
import { loadBalancerStatistics } from '../resources/kinds/load-balancer-statistics.ts';
import { pullZoneStatistics } from '../resources/kinds/pull-zone-statistics.ts';
import { shieldStatistics } from '../resources/kinds/shield-statistics.ts';
import type { Resource } from '../resources/resource.ts';
import { hourMs, parseChartKey, parseInstant } from '../resources/times.ts';
import { formOf, typeOf } from './shape.ts';

export interface Question {
  /** Takes an answer into account. path: with its query. nowMs: Unix time of the answer. */
  note(body: unknown, path: string, nowMs: number): void;
  /** What the answers so far show; no line without one. */
  lines(): readonly string[];
}

interface Topic {
  readonly resource: Pick<Resource, 'api' | 'path'>;
  readonly questions: readonly (() => Question)[];
}

/** The questions about each operation. */
export const topics: readonly Topic[] = [
  { resource: shieldStatistics, questions: [actionsOfShield] },
  { resource: applicationOverview, questions: [usageOfInstances] },
  { resource: billing, questions: [expirationOfCards] },
  { resource: pullZoneStatistics, questions: [newestHour] },
  { resource: databaseStatistics, questions: [latencyOfDatabases] },
  { resource: loadBalancer, questions: [healthOfOrigins] },
  { resource: loadBalancerStatistics, questions: [healthOfOrigins] },
];

/** How many different forms are shown. */
const maxShown = 12;

/** How often each text was added, in the order in which they were first added. */
class Tally {
  readonly #found = new Map<string, number>();

  add(text: string): void {
    const count = this.#found.get(text);
    if (count !== undefined || this.#found.size < maxShown) this.#found.set(text, (count ?? 0) + 1);
  }

  lines(about: string): readonly string[] {
    const all = [...this.#found].map(([text, count]) => `${text} × ${count}`);
    return all.length > 0 ? [`${about}: ${all.join(', ')}`] : [];
  }
}

function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce((inner, name) => (isObject(inner) ? fieldOf(inner, name) : undefined), value);
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const list = at(value, name);
  return Array.isArray(list) ? list : [];
}

function numberAt(value: unknown, ...names: readonly string[]): number | undefined {
  const number = at(value, ...names);
  return typeof number === 'number' ? number : undefined;
}

const words = new Set(
  `accept accepted access action actions allow allowed api at authentication average avg ban banned billable block blocked
  blocks bot bots breach breaches bypass bypassed bypasses captcha challenge challenged challenges check checked checks clean
  code codes count current custom ddos default denied deny detect detected detection drop dropped enforcement error errors
  event events fail failed failure failures file files guardian health healthy hit hits human inspect inspected interactive
  is javascript js last level limit limited lists log logged logs malicious managed max maximum mean median min minimum
  mitigated monitor monitored none origin origins p50 p75 p90 p95 p99 p999 pass passed probe probes rate ratelimit
  ratelimited reason redirect redirected reject rejected request requests response responses rule rules scan scanned scanning
  since skip skipped solved state status statuses sum suspicious time total totals trigger triggered triggers unhealthy
  unknown unsolved updated upload uploads validation verified verify violation violations waf`.split(/\s+/),
);

/** The name, if it consists of words in the list, else its form. */
function wordsOrForm(name: string): string {
  return snakeCased(name)
    .split('_')
    .every((word) => words.has(word))
    ? name
    : `{${formOf(name)}}`;
}

/** Whether the outer or the inner keys of the Shield metrics are date-times, and which actions the others name. */
function actionsOfShield(): Question {
  const [nesting, actions] = [new Tally(), new Tally()];
  const isInstant = (key: string) => parseChartKey(key) !== undefined;
  return {
    note(body) {
      for (const field of shieldStatistics.fields) noteProtection(at(body, 'data', field, 'metrics'));
    },
    lines: () => [
      ...nesting.lines('nesting of the metrics of a protection'),
      ...actions.lines('their actions'),
    ],
  };

  function noteProtection(metrics: unknown): void {
    if (!isObject(metrics)) return;
    const inner = Object.values(metrics).flatMap((value) => (isObject(value) ? Object.keys(value) : []));
    const outer = Object.keys(metrics);
    if (outer.length === 0) nesting.add('empty');
    else if (outer.every(isInstant)) {
      nesting.add('instant outside, action inside');
      for (const name of new Set(inner)) actions.add(wordsOrForm(name));
    } else {
      nesting.add(
        inner.length > 0 && inner.every(isInstant)
          ? 'action outside, instant inside'
          : 'neither level has only instants',
      );
      for (const name of outer) if (!isInstant(name)) actions.add(wordsOrForm(name));
    }
  }
}

type Candidates = Readonly<Record<string, (used: number, limit: number) => number>>;

const ofLimit: Candidates = {
  'per cent of the limit': (used, limit) => (100 * used) / limit,
  'ratio to the limit': (used, limit) => used / limit,
};
const cpu: Candidates = { ...ofLimit, cores: (used) => used, millicores: (used) => 1000 * used };
const ram: Candidates = {
  ...ofLimit,
  bytes: (used) => used,
  megabytes: (used) => used / 1e6,
  mebibytes: (used) => used / 2 ** 20,
};

/** How far a figure may be off, as a share, because the two are measured at different times. The first that any unit meets is used. */
const tolerances = [0.02, 0.1];
/** The share of the instances that must be within the tolerance. */
const fittingShare = 0.9;

/** Finds out in which of these units a figure is, from the same figure in a known unit and its limit. */
function unitOf(about: string, candidates: Candidates) {
  /** For each instance, by how much the figure is off in each unit, as a share. */
  const compared: Readonly<Record<string, number>>[] = [];
  const units = Object.keys(candidates);
  const fitting = (tolerance: number) =>
    units.filter((unit) => {
      const fits = compared.filter((errors) => (errors[unit] ?? Number.NaN) <= tolerance);
      return fits.length >= fittingShare * compared.length;
    });
  return {
    note(figure: number | undefined, used: number | undefined, limit: number | undefined): void {
      // Where nothing is used, everything fits.
      if (!figure || !used || !limit) return;
      const errors = Object.entries(candidates).map(([unit, expected]): [string, number] => [
        unit,
        Math.abs(figure / expected(used, limit) - 1),
      ]);
      compared.push(Object.fromEntries(errors));
    },
    lines(): readonly string[] {
      if (compared.length === 0) return [`${about}: nothing to compare`];
      const found = tolerances.map(fitting).find(({ length }) => length > 0);
      return [`${about}: ${found?.join(' or ') ?? `none of ${units.join(', ')}`}`];
    },
  };
}

function usageOfInstances(): Question {
  const ofCpu = unitOf('cpuUsage of a pod, by its cpuUsageCores and limits.cpuCores', cpu);
  const ofRam = unitOf('ramUsage of a pod, by its ramUsageBytes and limits.ramBytes', ram);
  return {
    note(body) {
      const [cores, bytes] = [numberAt(body, 'limits', 'cpuCores'), numberAt(body, 'limits', 'ramBytes')];
      for (const pod of listAt(body, 'regions').flatMap((region) => listAt(region, 'pods'))) {
        ofCpu.note(numberAt(pod, 'cpuUsage'), numberAt(pod, 'cpuUsageCores'), cores);
        ofRam.note(numberAt(pod, 'ramUsage'), numberAt(pod, 'ramUsageBytes'), bytes);
      }
    },
    lines: () => [...ofCpu.lines(), ...ofRam.lines()],
  };
}

function expirationOfCards(): Question {
  const forms = new Tally();
  return {
    note(body) {
      for (const method of listAt(body, 'SavedPaymentMethods')) {
        const expiration = at(method, 'ExpirationDate');
        forms.add(typeof expiration === 'string' ? formOf(expiration) : 'no text');
      }
    },
    lines: () => forms.lines('form of ExpirationDate'),
  };
}

/** How long ago the newest hour with requests of each pull zone ended. The days of a zone are in several answers. */
function newestHour(): Question {
  const newest = new Map<string, { readonly startMs: number; readonly nowMs: number }>();
  return {
    note(body, path, nowMs) {
      const zone = new URLSearchParams(path.split('?')[1]).get('pullZone') ?? '';
      for (const [key, value] of Object.entries(at(body, 'RequestsServedChart') ?? {})) {
        const startMs = (parseInstant(key) ?? Number.NaN) * 1000;
        if (typeof value !== 'number' || value <= 0 || !(startMs <= nowMs)) continue;
        if (!(startMs <= (newest.get(zone)?.startMs ?? Number.NEGATIVE_INFINITY)))
          newest.set(zone, { startMs, nowMs });
      }
    },
    lines() {
      const found = new Tally();
      const hours = [...newest.values()].map(
        ({ startMs, nowMs }) => Math.ceil((nowMs - startMs) / hourMs) - 1,
      );
      for (const hoursAgo of hours.toSorted((a, b) => a - b)) {
        if (hoursAgo <= 0) found.add('under way');
        else if (hoursAgo > 3) found.add('ended more than 3 hours ago');
        else found.add(`ended ${hoursAgo - 1} to ${hoursAgo} hours ago`);
      }
      return found.lines('newest hour with requests of a pull zone');
    },
  };
}

function latencyOfDatabases(): Question {
  const keys = new Tally();
  return {
    note(body) {
      for (const key of Object.keys(at(body, 'latency', 'data') ?? {})) keys.add(wordsOrForm(key));
    },
    lines: () => keys.lines('keys of latency'),
  };
}

/** Which fields tell of the health or the state of an origin: none is documented but the status codes of its failures. */
function healthOfOrigins(): Question {
  const found = new Tally();
  let answers = 0;
  return {
    note(body) {
      answers++;
      noteFields(body);
    },
    lines() {
      const about = 'fields of load balancers about health or status';
      const lines = found.lines(about);
      return answers > 0 && lines.length === 0 ? [`${about}: none`] : lines;
    },
  };

  function noteFields(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      // How health is checked is documented, and is a setting.
      if (/health|status/i.test(name) && name !== 'HealthCheckSettings')
        found.add(`${wordsOrForm(name)}: ${typeof inner === 'string' ? formOf(inner) : typeOf(inner)}`);
      noteFields(inner);
    }
  }
}
