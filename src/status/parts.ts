/** Pieces that the panels of the status page share. */
import type { Tone } from '../resources/resource.ts';
import { durationInWords } from '../text.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { linkTo, type StateFilter, type StatusQuery } from './query.ts';

const tones: Readonly<Record<'ok' | 'failing' | 'absent' | 'pending', Tone>> = {
  ok: 'ok',
  failing: 'bad',
  absent: 'warn',
  pending: 'idle',
};

/** atMs: Unix time. */
export function time(atMs: number, text: string): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${text}</time>`;
}

export function ago(atMs: number, nowMs: number): Html {
  return time(atMs, `${durationInWords(nowMs - atMs)} ago`);
}

export function stateMark(state: keyof typeof tones): Html {
  return html`<span class="state t-${tones[state]}">${state}</span>`;
}

/** Why something fails, and since when that is known. */
export function failureText(
  failure: { readonly result: string; readonly message: string; readonly atMs: number } | undefined,
  nowMs: number,
): HtmlValue {
  return (
    failure &&
    html`<span class="result">${failure.result}</span> <bdi>${failure.message}</bdi> <small>${ago(failure.atMs, nowMs)}</small>`
  );
}

export const stateTitles: Readonly<Record<StateFilter, string>> = {
  ok: 'OK',
  failing: 'Failing',
  absent: 'Absent',
  pending: 'Pending',
  stale: 'Stale',
};

/** With an anchor: the list of targets can be far down the page. */
export function linkToTargets(query: StatusQuery): string {
  return `${linkTo(query)}#targets`;
}
