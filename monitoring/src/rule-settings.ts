/** The settings of the rules, in the chart's values or in a file: their defaults and their schema. */
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError, type Path, type Place, type Problem } from '../../src/config/problems.ts';
import { mapping, unknownSetting } from '../../src/config/values.ts';
import { parseYaml } from '../../src/config/yaml.ts';
import { didYouMean, durationPattern, quote } from '../../src/text.ts';
import { exporterRules } from './exporter-rules.ts';
import { rulesOfKind } from './kind.ts';
import { kinds } from './kinds/index.ts';
import { type Alert, alertsIn, type Rules } from './rules.ts';

/** The settings of one alert. */
export interface AlertSettings {
  readonly for: string;
  /** Empty: not at all. */
  readonly keepFiringFor: string;
  readonly thresholds?: Readonly<Record<string, number>>;
  /** Ids of targets that it leaves out, by label. With several labels, all have to match. */
  readonly exclude?: Readonly<Record<string, readonly string[]>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The settings of all rules. */
export interface RuleSettings {
  /** The address of a runbook, with `{alert}` in place of the alert's name. Default: that of the project's. Not in the file. */
  readonly runbookUrl?: string | undefined;
  /** The alerts to leave out, by name. */
  readonly disabled: readonly string[];
  /** Added to every alert. */
  readonly alertLabels: Readonly<Record<string, string>>;
  readonly alertAnnotations: Readonly<Record<string, string>>;
  /** By the name of the alert. */
  readonly alerts: Readonly<Record<string, AlertSettings>>;
}

/** The rules by their files: those of each kind, and the exporter's own. */
export const ruleSets: ReadonlyMap<string, Rules> = new Map([
  ['exporter.yml', exporterRules],
  ...kinds.flatMap(({ kind, rules }) =>
    rules ? [[`${kind.replaceAll('_', '-')}.yml`, rulesOfKind(kind, rules)] as const] : [],
  ),
]);

export const alerts: readonly Alert[] = [...ruleSets.values()].flatMap(alertsIn);

function byName<T>(make: (alert: Alert) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(alerts.map((alert) => [alert.alert, make(alert)]));
}

export function defaultsOf({ for: wait, keepFiringFor = '', thresholds }: Alert): AlertSettings {
  return { for: wait, keepFiringFor, ...(thresholds && { thresholds }) };
}

export const defaultSettings: RuleSettings = {
  disabled: [],
  alertLabels: {},
  alertAnnotations: {},
  alerts: byName(defaultsOf),
};

// A schema with an id becomes a definition of its own in the chart's schema.
const expectedDuration = 'expected a duration, such as 30s';
const duration = z.string(expectedDuration).regex(new RegExp(durationPattern), expectedDuration);
const someDuration = duration.min(1, expectedDuration).meta({ id: 'someDuration' });
const anyDuration = duration.meta({ id: 'anyDuration' });
const labels = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a label, such as team'),
    z.string('expected text'),
  )
  .meta({ id: 'alertLabels' });
/** What the schema of the chart says, too. */
const noSeverity = 'a severity of single alerts only, in alerts.<alert>.labels: nothing would page any more';
const commonLabels = labels
  .refine((set) => !('severity' in set), { error: `expected ${noSeverity}`, path: ['severity'] })
  .meta({ id: 'commonAlertLabels' });
const expectedIds = 'expected a list of ids, such as [HbqFNk0KZjzYOcp]';
const ids = z
  .array(
    z
      .string('expected an id in quotes, such as "501"')
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected an id of letters, digits, ".", "_" and "-"'),
    expectedIds,
  )
  .min(1, expectedIds)
  .meta({ id: 'ids' });

function some<T extends z.ZodType>(names: readonly string[], each: T) {
  return mapping(Object.fromEntries(names.map((name) => [name, each.optional()])));
}

function alertSchema({ thresholds, presence }: Alert) {
  return mapping({
    for: someDuration.optional(),
    keepFiringFor: anyDuration.optional(),
    ...(thresholds && {
      thresholds: some(Object.keys(thresholds), z.number('expected a number')).optional(),
    }),
    ...(presence && { exclude: some(presence.ids, ids).optional() }),
    labels: labels.optional(),
    annotations: labels.optional(),
  });
}

function isAlert(name: string): boolean {
  return alerts.some(({ alert }) => alert === name);
}

function noAlert(name: string): string {
  const known = alerts.map(({ alert }) => alert);
  return `there is no alert ${quote(name)}${didYouMean(name, known)}`;
}

const ruleSettings = mapping({
  disabled: z
    .array(
      z.string().refine(isAlert, { error: ({ input }) => noAlert(String(input)) }),
      'expected a list of alerts',
    )
    .optional(),
  alertLabels: commonLabels.optional(),
  alertAnnotations: labels.optional(),
  alerts: mapping(byName((alert) => alertSchema(alert).optional())).optional(),
});

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is given, over the defaults. */
function overlay(preset: unknown, given: unknown): unknown {
  if (!isMapping(preset) || !isMapping(given)) return given;
  const merged = Object.entries(given).map(([key, value]) => [key, overlay(preset[key], value)]);
  return { ...preset, ...(Object.fromEntries(merged) as object) };
}

/** Reads settings from YAML, over the defaults. Throws with every problem and its line if they are not valid. */
export function readSettings(yaml: string, file = 'settings.yaml'): RuleSettings {
  const { problems, place } = parseYaml(yaml, file);
  if (problems.length > 0) throw new ConfigError(problems);
  const { data, error } = ruleSettings.safeParse(parse(yaml) ?? {});
  if (error) throw new ConfigError(error.issues.flatMap((issue) => problemsOf(issue, place)));
  return overlay(defaultSettings, data) as RuleSettings;
}

function problemsOf(issue: z.core.$ZodIssue, place: (path: Path) => Place): readonly Problem[] {
  const path = issue.path as Path;
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  if (issue.code !== 'unrecognized_keys') return [{ ...place(path), message }];
  const known = message.split(',');
  return issue.keys.map((key) => ({ ...place([...path, key]), message: unknownSetting(key, known) }));
}

interface SettingsJsonSchema {
  readonly properties: object;
  readonly definitions: object;
}

/** In draft 7, for the chart's values. */
export function settingsJsonSchema(): SettingsJsonSchema {
  const schema = z.toJSONSchema(ruleSettings, { target: 'draft-7' });
  // zod wraps optional references, which makes Helm's messages longer.
  const unwrapped = (_: string, value: unknown) =>
    isMapping(value) && Array.isArray(value['allOf']) ? (value['allOf'][0] as unknown) : value;
  const { definitions, ...rest } = JSON.parse(JSON.stringify(schema), unwrapped) as SettingsJsonSchema & {
    readonly definitions: Readonly<Record<string, object>>;
  };
  // A refinement has no place in a schema. This one's error says what is expected.
  const own = definitions['commonAlertLabels'] ?? {};
  // In draft 7, what stands beside a `$ref` counts for nothing.
  const common = { allOf: [own, { properties: { severity: { const: noSeverity } } }] };
  return { ...rest, definitions: { ...definitions, commonAlertLabels: common } };
}
