/**
 * The text of `--report`: what the API answered, without any value of the account, for somebody who looks for a fault and has
 * no such account.
 */
import { apiDefaults, type Plain } from '../config/config.ts';
import { errorBody } from '../resources/documented.ts';
import type { ApiName } from '../resources/resource.ts';
import { kindsThatCall, operationOf, plainPath } from './operations.ts';
import { type Question, topics } from './questions.ts';
import { formOf, type IsPrivate, notJson, Shape } from './shape.ts';

/** A request that was sent, and how it ended. */
export interface Exchange {
  readonly api: ApiName;
  /** Below the base URL. */
  readonly path: string;
  /** The HTTP status; `timeout`, `network` or `schema` (too long) if there was no complete answer. */
  readonly code: string;
  readonly durationMs: number;
  /** The answer, with the key removed from its body; undefined if none was received. */
  readonly answer: { readonly headers: Headers; text(): string } | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What the answers of one operation have shown so far. */
interface OperationRecord {
  readonly kinds: readonly string[];
  readonly codes: Map<string, number>;
  readonly timesMs: number[];
  readonly questions: readonly Question[];
  /** The shapes of bodies by their title: `answer`, `error 404`. */
  readonly shapes: Map<string, Shape>;
  readonly errorKeys: Set<string>;
  /** Headers about rates, with the form of the value. Those of a 429 are of interest on their own: so is that it had none. */
  readonly headers: Set<string>;
  readonly headersOf429: Set<string>;
}

const rateHeader = /(?:^|-)(?:rate|retry|quota|throttl|limit|remaining|reset)/i;
const noRateHeader = '';

/** An error key that looks like one of the API's own: words with dots, dashes or underscores between them. */
const errorKey = /^[a-z]{1,40}(?:[._-][a-z]{1,40}){0,8}$/i;

/** Shorter texts occur in too many ordinary words. */
const shortestPrivateText = 3;

function questionsAbout(api: ApiName, path: string | undefined): readonly Question[] {
  return topics
    .filter(({ resource }) => resource.api === api && plainPath(resource.path) === path)
    .flatMap(({ questions }) => questions.map((create) => create()));
}

export class Report {
  readonly #now: () => number;
  readonly #operations = new Map<string, OperationRecord>();
  /** Every text of the answers: names, ids, hosts and keys are among them. In lower case. */
  readonly #texts = new Set<string>();

  /** now: the current Unix time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note({ api, path, code, durationMs, answer }: Exchange): void {
    const operation = operationOf(api, path);
    const name = `GET ${operation?.path ?? '(an operation that is not documented)'} of the ${api} API`;
    let record = this.#operations.get(name);
    if (!record) {
      record = {
        kinds: operation ? kindsThatCall(api, operation.path) : [],
        codes: new Map(),
        timesMs: [],
        questions: questionsAbout(api, operation?.path),
        shapes: new Map(),
        errorKeys: new Set(),
        headers: new Set(),
        headersOf429: new Set(),
      };
      this.#operations.set(name, record);
    }
    record.codes.set(code, (record.codes.get(code) ?? 0) + 1);
    record.timesMs.push(durationMs);
    if (!answer) return;
    const rates = Object.entries(answer.headers).flatMap(([header, value]) =>
      rateHeader.test(header) ? [`${header}: ${formOf(String(value))}`] : [],
    );
    if (code !== '429') for (const rate of rates) record.headers.add(rate);
    else for (const rate of rates.length > 0 ? rates : [noRateHeader]) record.headersOf429.add(rate);
    const isGood = code.startsWith('2');
    const title = isGood ? 'answer' : `error ${code}`;
    let shape = record.shapes.get(title);
    if (!shape) {
      shape = new Shape(isGood ? operation?.documented : errorBody);
      record.shapes.set(title, shape);
    }
    const body = parseBody(answer.text());
    shape.note(body);
    if (isGood) for (const question of record.questions) question.note(body, path, this.#now());
    this.#collect(body, record.errorKeys);
  }

  /**
   * @param build the versions, in one line
   * @param config the configuration in the form of its file
   * @param past what was found out about the past, without any value
   */
  text(build: string, config: Plain, past: readonly string[] = []): string {
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
      ...rightsLines(operations, isPrivate),
      ...(past.length > 0 ? ['The past', ...indented(past), ''] : []),
      ...operations.flatMap(([name, record]) => [name, ...indented(recordLines(record, isPrivate)), '']),
    ].join('\n');
  }

  /** Keeps the texts of a body, which are private, apart from the API's error keys. */
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

/** The JSON of a body, or a symbol that says what it is instead. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (text.trim() === '') return notJson.none;
    return text.trimStart().startsWith('<') ? notJson.markup : notJson.text;
  }
}

function recordLines(record: OperationRecord, isPrivate: IsPrivate): string[] {
  const { codes, timesMs, questions, shapes, errorKeys, headers, headersOf429 } = record;
  const [fastest, slowest] = [Math.min, Math.max].map((of) => Math.round(timesMs.reduce((a, b) => of(a, b))));
  const hidden = (text: string, isName: boolean) => (isName && !isPrivate(text) ? text : formOf(text));
  const keys = [...errorKeys].filter((key) => key !== '').map((key) => hidden(key, errorKey.test(key)));
  const rate = (header: string) => {
    const [name = '', ...form] = header.split(': ');
    return `${hidden(name, true)}: ${form.join(': ')}`;
  };
  return [
    `${[...codes].map(([code, count]) => `${code} × ${count}`).join(', ')}; ${fastest} to ${slowest} ms`,
    ...[...shapes].flatMap(([title, shape]) => shape.lines(title, isPrivate)),
    ...questions.flatMap((question) => question.lines()),
    ...(keys.length > 0 ? [`error keys: ${[...new Set(keys)].join(', ')}`] : []),
    ...[...headers].map(rate),
    ...[...headersOf429].map((header) =>
      header === noRateHeader ? 'a 429 without a header about rates' : `header of a 429: ${rate(header)}`,
    ),
  ];
}

/** What the key may not read, each way in which the API says so, and the kinds that need it. */
function rightsLines(
  operations: readonly (readonly [name: string, record: OperationRecord])[],
  isPrivate: IsPrivate,
): readonly string[] {
  const lines = operations.flatMap(([name, { codes, kinds, errorKeys }]) => {
    const all = [...codes.keys()];
    const refusals = all.filter((code) => code === '401' || code === '403');
    if (refusals.length === 0 || all.some((code) => code.startsWith('2'))) return [];
    const keys = [...errorKeys].filter((key) => errorKey.test(key) && !isPrivate(key));
    return [`${name}: ${[...refusals, ...keys].join(', ')} (${kinds.join(', ')})`];
  });
  return lines.length > 0 ? ['What the key may not read', ...indented(lines), ''] : [];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

/** Values of settings that cannot be somebody's names, and are therefore shown. */
const ownText = /^(?:all|latest|none|milliseconds|seconds|(?:\d+(?:ms|[smhdw]))+|\d+[KMG]iB)$/;
const ownAddresses: readonly string[] = Object.values(apiDefaults).map(({ baseUrl }) => baseUrl);

/** The settings with values that cannot be names; of lists only the length, of credentials only the number. */
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
