/**
 * The text of `--report`: what the API answered, without any value of the account, for somebody who looks for a fault and has
 * no such account.
 */
import { apis } from '../config/apis.ts';
import type { Plain } from '../config/document.ts';
import { errorBody } from '../resources/documented.ts';
import type { ApiName } from '../resources/resource.ts';
import { operationOf, plainPath } from './operations.ts';
import { asked, type Question } from './questions.ts';
import { formOf, type IsPrivate, notJson, Shape } from './shape.ts';

/** A request that was sent, and how it ended. */
export interface Exchange {
  readonly api: ApiName;
  /** Below the base URL. */
  readonly path: string;
  /** The HTTP status; `timeout`, `network` or `schema` (too long) if there was no complete answer. */
  readonly code: string;
  readonly durationMs: number;
  /** What came, with the key taken out of its body. */
  readonly answer: { readonly headers: Headers; text(): string } | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What was seen of one operation. */
interface Seen {
  readonly codes: Map<string, number>;
  readonly tookMs: number[];
  readonly questions: readonly Question[];
  /** By what they are: `answer`, `error 404`. */
  readonly shapes: Map<string, Shape>;
  readonly errorKeys: Set<string>;
  readonly headers: Set<string>;
}

const rateHeader = /(?:^|-)(?:rate|retry|quota|throttl)/i;

/** A name that the API could have given: words with dots, dashes and underscores between them. */
const errorKey = /^[a-z]{1,40}(?:[._-][a-z]{1,40}){0,8}$/i;

/** Shorter texts occur in too many ordinary words. */
const shortestPrivateText = 3;

function questionsAbout(api: ApiName, path: string | undefined): readonly Question[] {
  return asked
    .filter(({ resource }) => resource.api === api && plainPath(resource.path) === path)
    .flatMap(({ questions }) => questions.map((create) => create()));
}

export class Report {
  readonly #now: () => number;
  readonly #operations = new Map<string, Seen>();
  /** Every text of the answers: names, ids, hosts and keys are among them. In lower case. */
  readonly #texts = new Set<string>();

  /** now: the current Unix time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note({ api, path, code, durationMs, answer }: Exchange): void {
    const operation = operationOf(api, path);
    const name = `GET ${operation?.path ?? '(an operation that is not documented)'} of the ${api} API`;
    let seen = this.#operations.get(name);
    if (!seen) {
      seen = {
        codes: new Map(),
        tookMs: [],
        questions: questionsAbout(api, operation?.path),
        shapes: new Map(),
        errorKeys: new Set(),
        headers: new Set(),
      };
      this.#operations.set(name, seen);
    }
    seen.codes.set(code, (seen.codes.get(code) ?? 0) + 1);
    seen.tookMs.push(durationMs);
    if (!answer) return;
    for (const [header, value] of Object.entries(answer.headers)) {
      if (rateHeader.test(header)) seen.headers.add(`${header}: ${formOf(String(value))}`);
    }
    const isGood = code.startsWith('2');
    const title = isGood ? 'answer' : `error ${code}`;
    let shape = seen.shapes.get(title);
    if (!shape) {
      shape = new Shape(isGood ? operation?.documented : errorBody);
      seen.shapes.set(title, shape);
    }
    const body = parsed(answer.text());
    shape.note(body);
    if (isGood) for (const question of seen.questions) question.note(body, path, this.#now());
    this.#collect(body, seen.errorKeys);
  }

  /**
   * @param build the versions, in one line
   * @param config the configuration as the file would say it
   */
  text(build: string, config: Plain): string {
    const isPrivate: IsPrivate = (text) => {
      const given = text.toLowerCase();
      return [...this.#texts].some((known) => given.includes(known));
    };
    const operations = [...this.#operations].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      `bunnynet-exporter ${build}`,
      'This report has no key, name, id, host or figure of the account: 9 stands for a digit, x for a letter.',
      '',
      'Configuration',
      ...indented(configLines(config)),
      '',
      ...operations.flatMap(([name, seen]) => [name, ...indented(seenLines(seen, isPrivate)), '']),
    ].join('\n');
  }

  /** Keeps the texts of a body, and takes out the API's own names of errors (reference 2.3). */
  #collect(value: unknown, errorKeys: Set<string>): void {
    if (typeof value === 'string') {
      if (value.length >= shortestPrivateText) this.#texts.add(value.toLowerCase());
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        if (/^errorKey$/i.test(name) && typeof inner === 'string') errorKeys.add(inner);
        else this.#collect(inner, errorKeys);
      }
    }
  }
}

/** Of a body that is no JSON: what it is instead. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (text.trim() === '') return notJson.none;
    return text.trimStart().startsWith('<') ? notJson.markup : notJson.text;
  }
}

function seenLines(seen: Seen, isPrivate: IsPrivate): string[] {
  const { codes, tookMs, questions, shapes, errorKeys, headers } = seen;
  const [fastest, slowest] = [Math.min, Math.max].map((of) => Math.round(tookMs.reduce((a, b) => of(a, b))));
  const hidden = (text: string, isName: boolean) => (isName && !isPrivate(text) ? text : formOf(text));
  const keys = [...errorKeys].filter((key) => key !== '').map((key) => hidden(key, errorKey.test(key)));
  const rates = [...headers].map((header) => {
    const [name = '', form = ''] = header.split(': ');
    return `${hidden(name, true)}: ${form}`;
  });
  return [
    `${[...codes].map(([code, count]) => `${code} × ${count}`).join(', ')}; ${fastest} to ${slowest} ms`,
    ...[...shapes].flatMap(([title, shape]) => shape.lines(title, isPrivate)),
    ...questions.flatMap((question) => question.lines()),
    ...(keys.length > 0 ? [`error keys: ${[...new Set(keys)].join(', ')}`] : []),
    ...rates,
  ];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

/** Words of our own settings, which are nobody's names. */
const ownText = /^(?:all|latest|none|milliseconds|seconds|(?:\d+(?:ms|[smhdw]))+|\d+[KMG]iB)$/;
const ownAddresses: readonly string[] = Object.values(apis).map(({ baseUrl }) => baseUrl);

/** The settings and their values, where these are no names: of lists the length, of credentials the number. */
function configLines(config: Plain): readonly string[] {
  return entriesOf(config).flatMap(([section, value]) => {
    if (section === 'credentials') return [`credentials: ${entriesOf(value).length}`];
    if (section !== 'apis') return [`${section}: ${settingsText(value)}`];
    return entriesOf(value).map(([api, settings]) => `apis.${api}: ${settingsText(settings)}`);
  });
}

type Setting = readonly [name: string, value: Plain | undefined];

function entriesOf(value: Plain | undefined): readonly Setting[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function settingsText(value: Plain | undefined): string {
  if (Array.isArray(value)) return `${value.length} listed`;
  if (typeof value === 'string')
    return ownText.test(value) || ownAddresses.includes(value) ? value : '(text)';
  if (typeof value !== 'object' || value === null) return String(value);
  return entriesOf(value)
    .filter(([name]) => name !== 'credential')
    .map(([name, inner]) => `${name} ${settingsText(inner)}`)
    .join(', ');
}
