/** The notices at the top of the status page: what somebody should look at first. */
import type { Tone } from '../resources/resource.ts';
import { clockText, count, durationInWords, plural } from '../text.ts';
import type { StatusPage } from './content.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { ago, time } from './parts.ts';
import type { MismatchRecord } from './schema-drift.ts';

function notice(tone: Tone, content: HtmlValue): Html {
  return html`<p class="notice ${tone}">${content}</p>
`;
}

/** How many fields of the wrong type are named. */
const shownMismatches = 5;

function mismatchNotice(records: readonly MismatchRecord[], nowMs: number): HtmlValue {
  if (records.length === 0) return undefined;
  const named = records
    .slice(0, shownMismatches)
    .map(({ kind, field, expected, received, count: n, lastAtMs }) => {
      const types =
        expected !== undefined && received !== undefined && html` (expected ${expected}, got ${received})`;
      return html`<li>${kind} <code>${field}</code>${types}: ${n === 1 ? 'once' : `${count(n)} times`}, last ${ago(lastAtMs, nowMs)}</li>`;
    });
  const more = records.length - named.length;
  return html`<div class="notice warn"><strong>The API sends fields of another type than expected.</strong> Their series are left out, and sums over them are too small.
<ul>${named}${more > 0 && html`<li>and ${plural(more, 'more field')}</li>`}</ul></div>
`;
}

export function notices(page: StatusPage): HtmlValue {
  const { result, listings, exporter, nowMs } = page;
  const { total } = result;
  const { configuration, pauses, droppedSeries, maxSeries, capacities, schemaDrift } = exporter;
  const isFirstRound = total.pending > 0 || listings.counts.pending > 0;
  return [
    configuration.refused &&
      html`<div class="notice bad"><strong>The reload failed</strong> ${ago(configuration.refused.atMs, nowMs)}; the previous configuration is still in use.
<pre tabindex="0">${configuration.refused.message}</pre></div>
`,
    pauses.map(({ api, untilMs }) =>
      notice(
        'warn',
        html`<strong>The ${api} API asked for a pause</strong>: it gets no requests for ${durationInWords(untilMs - nowMs)}, until ${time(untilMs, clockText(untilMs, nowMs))}.`,
      ),
    ),
    droppedSeries > 0 &&
      notice(
        'warn',
        html`<strong>${count(droppedSeries)} series are left out</strong>: <code>limits.max_series</code> is ${count(maxSeries)}.`,
      ),
    capacities.map(
      ({ shortfall }) =>
        shortfall !== undefined &&
        notice('warn', html`<strong>The request rate is too low for the targets.</strong> ${shortfall}`),
    ),
    mismatchNotice(schemaDrift, nowMs),
    isFirstRound &&
      notice(
        'idle',
        html`<strong>The first round of polls is running</strong>: ${count(total.targets - total.pending)} of ${plural(total.targets, 'target')} polled${listings.counts.pending > 0 && `, ${plural(listings.counts.pending, 'listing')} not read yet`}.`,
      ),
  ];
}
