/** Pieces that the sections of the status page share. */
import { nameOf } from '../polling/listed-things.ts';
import type { Failure } from '../polling/record.ts';
import type { ListingSpec, Spec } from '../polling/spec.ts';
import type { Tone } from '../resources/resource.ts';
import { capitalised, clockText, durationInWords, pollDuration } from '../text.ts';
import { type Html, type HtmlValue, html } from './html.ts';

export const stateTones = {
  ok: 'ok',
  failing: 'bad',
  absent: 'warn',
  pending: 'idle',
  stale: 'warn',
  lacking: 'idle',
} as const satisfies Readonly<Record<string, Tone>>;
export type State = keyof typeof stateTones;

function stateText(state: State): string {
  return state === 'lacking' ? 'not in the plan' : state;
}

export function stateTitle(state: State): string {
  return state === 'ok' ? 'OK' : capitalised(stateText(state));
}

/** The state of the polls. Of what the plan lacks, it says since when. */
export function stateMark(
  { state, lackingSinceMs }: { readonly state: State; readonly lackingSinceMs?: number | undefined },
  nowMs: number,
): Html {
  const since =
    state === 'lacking' &&
    lackingSinceMs !== undefined &&
    html` <small>since ${time(lackingSinceMs, clockText(lackingSinceMs, nowMs))}</small>`;
  return html`<span class="state t-${stateTones[state]}">${stateText(state)}</span>${since}`;
}

/** A time, with the text that stands for it. atMs: Unix time. */
export function time(atMs: number, text: string): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${text}</time>`;
}

export function ago(atMs: number | undefined, nowMs: number): HtmlValue {
  return atMs === undefined ? 'never' : time(atMs, `${durationInWords(nowMs - atMs)} ago`);
}

/** ` of shop`, for a listing below something. */
export function ofParent({ parent }: Pick<ListingSpec, 'parent'>): HtmlValue {
  return parent && html` of <bdi>${nameOf(parent)}</bdi>`;
}

/** The key that it is read with, and whose that is where the account is not its name and there are several. */
export function keyText(
  { credential, account }: Pick<Spec, 'credential' | 'account'>,
  { hasSeveralAccounts }: { readonly hasSeveralAccounts: boolean },
): Html {
  const key = html`<bdi>${credential}</bdi>`;
  return hasSeveralAccounts && credential !== account ? html`${key} of <bdi>${account}</bdi>` : key;
}

export function took(durationSeconds: number | undefined): string {
  return durationSeconds === undefined ? '–' : pollDuration(durationSeconds);
}

/** Why something fails, and since when that is known. */
export function failureText({ result, message, atMs }: Failure, nowMs: number): Html {
  return html`<span class="result">${result}</span> <bdi>${message}</bdi> <small>${ago(atMs, nowMs)}</small>`;
}
