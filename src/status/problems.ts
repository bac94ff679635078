/** The first section of the status page: what is wrong, the worst first, what it means and what to do. */
import type { ListingStatus } from '../polling/listings.ts';
import type { TargetStatus } from '../polling/target-states.ts';
import { capitalised, clockText, count, durationInWords, plural } from '../text.ts';
import { type Advice, adviceOn, type Cause, causesOf } from './causes.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { ago, firstOf, nameOf, ofParent, time } from './parts.ts';
import { linkTo } from './query.ts';
import type { DriftedField } from './schema-drift.ts';
import type { View } from './view.ts';

interface Problem extends Advice {
  readonly title: string;
  /** Follows the title on its line. */
  readonly extent?: HtmlValue;
  readonly meaning: HtmlValue;
  /** Shown when the row is opened. */
  readonly details?: HtmlValue;
}

const shownCauses = 8;
const shownTargets = 10;
const shownFields = 5;

function ofCause(cause: Cause, nowMs: number): Problem {
  const { affected, words, kinds, sinceMs, meaning, targets, listings } = cause;
  const since = time(sinceMs, clockText(sinceMs, nowMs));
  const link = html` <a href="${linkTo({ kinds, text: words })}">show the targets</a>`;
  const nameOfEach = (status: TargetStatus | ListingStatus) =>
    'target' in status
      ? html`${status.target.kind} <bdi>${nameOf(status.target)}</bdi>`
      : html`${status.poll.listing.nouns}${ofParent(status.poll)} (listing)`;
  return {
    ...cause,
    extent: html`: ${affected}, failing since ${since}${kinds.length > 0 && link}`,
    meaning: `${capitalised(meaning)}.`,
    details: firstOf([...targets, ...listings], shownTargets, nameOfEach),
  };
}

/** Of the exporter itself. */
function ofExporter({ exporter, nowMs }: View): readonly Problem[] {
  const { configuration, pauses, droppedSeries, maxSeries, capacities, schemaDrift } = exporter;
  const problems: Problem[] = [];
  const add = (reason: string, problem: Omit<Problem, keyof Advice>) =>
    problems.push({ ...adviceOn(reason), ...problem });
  if (configuration.refused) {
    const { atMs, message } = configuration.refused;
    const meaning = html`The previous configuration is still in use.<pre tabindex="0">${message}</pre>`;
    add('reload', { title: 'The reload failed', extent: html` ${ago(atMs, nowMs)}`, meaning });
  }
  for (const { api, untilMs } of pauses) {
    const extent = html`: it gets no requests until ${time(untilMs, clockText(untilMs, nowMs))}`;
    const meaning = `It brings no new values for another ${durationInWords(untilMs - nowMs)}.`;
    add('rate_limited', { title: `The ${api} API asked for a pause`, extent, meaning });
  }
  if (droppedSeries > 0) {
    const extent = html`: <code>limits.max_series</code> is ${count(maxSeries)}`;
    const meaning = 'Some targets are missing from the metrics.';
    add('max_series', { title: `${count(droppedSeries)} series are left out`, extent, meaning });
  }
  for (const { api, shortfall } of capacities) {
    const title = `The request rate of the ${api} API is too low for the targets`;
    if (shortfall !== undefined) add('pace', { title, meaning: `${shortfall}.` });
  }
  const toHtml = ({ kind, field, value, count: n, lastAtMs }: DriftedField) => {
    const what = value === undefined ? field : `${field}: ${value}`;
    return html`${kind} <code>${what}</code>: ${plural(n, 'time')}, last ${ago(lastAtMs, nowMs)}`;
  };
  const addDrift = (title: string, consequence: string, fields: readonly DriftedField[]) => {
    const meaning = html`${consequence}
${firstOf(fields, shownFields, toHtml)}`;
    if (fields.length > 0) add('drift', { title, meaning });
  };
  addDrift(
    'The API sends fields of another type than expected',
    'Their series are left out, and sums over them are too small.',
    schemaDrift.filter(({ value }) => value === undefined),
  );
  addDrift(
    'The API sends values that this version does not know',
    'A code is exported as its number; a state counts as unknown, or is left out.',
    schemaDrift.filter(({ value }) => value !== undefined),
  );
  return problems;
}

function row({ tone, title, extent, meaning, advice, runbook, details }: Problem): Html {
  const head = html`<strong><bdi>${title}</bdi></strong>${extent}
<div class="meaning">${meaning} <a href="${runbook}">${advice}</a></div>`;
  if (details === undefined) return html`<div class="problem ${tone}">${head}</div>`;
  return html`<details id="problem ${title}" class="problem ${tone}">
<summary>${head}</summary>
${details}
</details>`;
}

/** Undefined where all is well. */
export function problemsSection(view: View): HtmlValue {
  const { targets, listings, kinds, nowMs } = view;
  const causes = causesOf(targets, listings, kinds, nowMs);
  const shown = causes.slice(0, shownCauses).map((cause) => ofCause(cause, nowMs));
  const problems = [...shown, ...ofExporter(view)];
  if (problems.length === 0) return undefined;
  const ofTone = (tone: Advice['tone']) => problems.filter((problem) => problem.tone === tone).map(row);
  const rest = causes.slice(shownCauses);
  const hidden = rest.reduce((sum, cause) => sum + cause.targets.length + cause.listings.length, 0);
  const of = `of ${count(hidden)} targets and listings`;
  const more = html`<p class="more">${count(rest.length)} more causes, ${of}: see the list below.</p>`;
  return html`<section class="panel"><h2 class="title">What is wrong</h2>
${ofTone('bad')}${ofTone('warn')}${rest.length > 0 && more}</section>
`;
}
