/** What a PromQL expression uses, read from its syntax tree with the grammar of Prometheus' own editor. */
import { parser } from '@prometheus-io/lezer-promql';
import { ruleSets } from '../../monitoring/src/rule-settings.ts';
import type { Families } from './families.ts';

export interface Selector {
  /** Empty if the name is matched by a regular expression. */
  readonly metric: string;
  /** The pattern of the names, if there is no single one. */
  readonly names?: RegExp;
  /** Labels of its matchers. */
  readonly labels: readonly string[];
}

export interface Call {
  /** A function or an aggregation, in lower case. */
  readonly name: string;
  /** Metrics anywhere inside it. */
  readonly metrics: readonly string[];
}

export interface Expression {
  /** The places that do not parse. */
  readonly errors: readonly string[];
  readonly selectors: readonly Selector[];
  readonly calls: readonly Call[];
  /** Labels of `by`, `on`, `ignoring`, `group_left` and the like. */
  readonly groupings: readonly string[];
  /** Labels that label_join, label_replace and count_values write. */
  readonly made: readonly string[];
  /** Labels that these functions read. */
  readonly read: readonly string[];
}

type Node = ReturnType<typeof parser.parse>['topNode'];

const nodes = new Map<string, Node>();

/** The syntax tree of a text. Several tests ask for the same, and to parse it takes the longest of what they do. */
function parse(text: string): Node {
  const node = nodes.get(text) ?? parser.parse(text).topNode;
  nodes.set(text, node);
  return node;
}

export function readExpression(text: string): Expression {
  const errors: string[] = [];
  const selectors: Selector[] = [];
  const calls: Call[] = [];
  const groupings: string[] = [];
  const made: string[] = [];
  const read: string[] = [];
  const textOf = (node: Node): string => text.slice(node.from, node.to);
  const stringsOf = (node: Node): string[] =>
    (node.getChild('FunctionCallBody')?.getChildren('StringLiteral') ?? []).map((each) =>
      textOf(each).slice(1, -1),
    );

  /** The metrics inside the node. */
  function visit(node: Node): readonly string[] {
    if (node.type.isError) errors.push(text.slice(Math.max(0, node.from - 30), node.to + 30));
    const inside: string[] = [];
    for (let child = node.firstChild; child; child = child.nextSibling) inside.push(...visit(child));
    switch (node.name) {
      case 'VectorSelector': {
        const identifier = node.getChild('Identifier');
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        const metric = identifier ? textOf(identifier) : '';
        const texts = matchers.map(textOf);
        const [, pattern] =
          /^__name__=~"(.*)"$/.exec(texts.find((each) => each.startsWith('__name__=~')) ?? '') ?? [];
        const labels = matchers.flatMap((matcher) => matcher.getChildren('LabelName').map(textOf));
        selectors.push({
          metric,
          ...(pattern === undefined ? {} : { names: new RegExp(`^(?:${pattern})$`) }),
          labels: labels.filter((label) => label !== '__name__'),
        });
        inside.push(metric);
        break;
      }
      case 'GroupingLabels':
        groupings.push(...node.getChildren('LabelName').map(textOf));
        break;
      case 'FunctionCall': {
        const identifier = node.getChild('FunctionIdentifier');
        const name = identifier ? textOf(identifier) : '';
        calls.push({ name, metrics: inside });
        const strings = stringsOf(node);
        if (name === 'label_join') {
          made.push(...strings.slice(0, 1));
          read.push(...strings.slice(2));
        }
        if (name === 'label_replace') {
          made.push(...strings.slice(0, 1));
          read.push(...strings.slice(2, 3).filter((label) => label !== ''));
        }
        break;
      }
      case 'AggregateExpr': {
        const operation = node.getChild('AggregateOp');
        const name = operation ? textOf(operation).toLowerCase() : '';
        calls.push({ name, metrics: inside });
        if (name === 'count_values') made.push(...stringsOf(node));
        break;
      }
    }
    return inside;
  }
  visit(parse(text));
  return { errors, selectors, calls, groupings, made, read };
}

/** The metrics that a selector matches; a single name is returned even if there is no such metric. */
export function namedBy({ metric, names }: Selector, all: Iterable<string>): readonly string[] {
  return names === undefined ? [metric] : [...all].filter((each) => names.test(each));
}

/** Functions for counters only: they take a fall for a reset, or expect steady growth. */
const counterFunctions = [
  'rate',
  'irate',
  'increase',
  'resets',
  'idelta',
  'delta',
  'deriv',
  'predict_linear',
];

/**
 * Gauges that grow steadily until the month ends, and the function that is still right for them. The query has to leave out the
 * first day of a month.
 */
const growsWithinMonth = {
  function: 'deriv',
  metrics: ['bunnynet_billing_monthly_charges_dollars'],
};

/** Calls of such functions on gauges. */
export function misusedCounters({ calls }: Expression): readonly string[] {
  return calls
    .filter(({ name }) => counterFunctions.includes(name))
    .flatMap(({ name, metrics }) =>
      metrics
        .filter((metric) => !/_(total|bucket|count|sum)$/.test(metric))
        .filter((metric) => name !== growsWithinMonth.function || !growsWithinMonth.metrics.includes(metric))
        .map((metric) => `${name}(${metric})`),
    );
}

const records = [...ruleSets.values()].flatMap(({ groups }) => groups.flatMap((group) => group.records));
/** The expressions of the records by their names, as they are declared: to parse the rule files takes long. */
export const exprOf: ReadonlyMap<string, string> = new Map(records.map(({ record, expr }) => [record, expr]));

function* namesOf(families: Families): Iterable<string> {
  yield* families.keys();
  yield* exprOf.keys();
}

/** Syntax errors, counter functions of gauges, and metrics and labels that do not exist. */
export function mistakesIn(
  text: string,
  families: Families,
  moreLabels: readonly string[],
): readonly string[] {
  const found = readExpression(text);
  const unknown = found.selectors.flatMap((each) => {
    const metrics = namedBy(each, namesOf(families));
    if (metrics.length === 0) return [`no metric like ${each.names}`];
    const missing = metrics.filter((metric) => !families.has(metric) && !exprOf.has(metric));
    if (missing.length > 0) return missing.map((metric) => `no metric ${metric}`);
    const known = metrics.map((metric) => families.get(metric));
    if (known.includes(undefined)) return [];
    const labels = new Set([...known.flatMap((these) => these ?? []), ...moreLabels]);
    return each.labels
      .filter((label) => !labels.has(label))
      .map((label) => `${metrics.join(' ')}: no label ${label}`);
  });
  return [...found.errors, ...misusedCounters(found), ...unknown];
}

/** Operators that keep of one side only what the other side has, too. */
const joins = ['And', 'Mul', 'Div', 'Add', 'Sub', 'Gtr', 'Gte', 'Lss', 'Lte', 'Eql', 'Neq'];

/**
 * The series of targets that a panel reads from every account, whatever the variable `account` says: neither they nor what they are
 * joined with have a matcher on it. A join on no labels does not count.
 */
export function readFromAllAccounts(text: string): readonly string[] {
  const textOf = (node: Node): string => text.slice(node.from, node.to);
  const picksAccount = (node: Node): boolean => textOf(node).includes('account=~"$account|"');
  const found: string[] = [];
  function visit(node: Node, isJoined: boolean): void {
    const series = textOf(node);
    if (node.name === 'VectorSelector') {
      const isOfTarget =
        /^bunnynet[_:]|^\{/.test(series) && !/^bunnynet(_exporter_|:firing_alerts:count$)/.test(series);
      if (isOfTarget && !isJoined && !picksAccount(node)) found.push(series);
      return;
    }
    const { firstChild: left, lastChild: right } = node;
    if (node.name !== 'BinaryExpr' || !left || !right) {
      for (let child = node.firstChild; child; child = child.nextSibling) visit(child, isJoined);
      return;
    }
    const operator = left.nextSibling?.name ?? '';
    const isByLabels = !/^on\s*\(\s*\)/.test(text.slice(left.to, right.from).replace(/^\s*\S+\s*/, ''));
    const isJoin = joins.includes(operator) && isByLabels;
    visit(left, isJoined || (isJoin && picksAccount(right)));
    visit(right, isJoined || ((isJoin || operator === 'Unless') && picksAccount(left)));
  }
  visit(parse(text), false);
  return found;
}
