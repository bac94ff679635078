/** A strict parser of Prometheus' text format 0.0.4: anything that is not exactly right is an error. */

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
const number = /^(?:[+-]?Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

function checkLabels(text: string): void {
  const names = new Set<string>();
  label.lastIndex = 0;
  for (let at = 0; at < text.length; at = label.lastIndex) {
    const match = label.exec(text);
    const [, name = '', , comma] = match ?? [];
    if (!match) throw new SyntaxError(`no label at ${at}: ${text}`);
    if (names.has(name)) throw new SyntaxError(`the label ${name} twice: ${text}`);
    if (comma === ',' && label.lastIndex === text.length) throw new SyntaxError(`a last comma: ${text}`);
    names.add(name);
  }
}

/** The number of samples of a page. Each family must be in one piece after its HELP and TYPE, and no series may come twice. */
export function parsePage(page: string): number {
  if (page === '') return 0;
  if (!page.endsWith('\n')) throw new SyntaxError('the last line does not end');
  const closed = new Set<string>();
  const seen = new Set<string>();
  let helped = '';
  let family = '';
  for (const line of page.slice(0, -1).split('\n')) {
    const help = /^# HELP (\S+) ./.exec(line);
    const type = /^# TYPE (\S+) (?:gauge|counter)$/.exec(line);
    if (help) {
      helped = help[1] ?? '';
      continue;
    }
    if (type) {
      if (type[1] !== helped) throw new SyntaxError(`a TYPE without its HELP: ${line}`);
      closed.add(family);
      family = helped;
      if (closed.has(family)) throw new SyntaxError(`the family ${family} twice`);
      continue;
    }
    const match = sampleLine.exec(line);
    const [, name = '', labels = '', value = ''] = match ?? [];
    if (!match || !number.test(value)) throw new SyntaxError(`no sample: ${line}`);
    if (name !== family) throw new SyntaxError(`a sample outside of its family: ${line}`);
    const series = line.slice(0, -value.length);
    if (seen.has(series)) throw new SyntaxError(`the series twice: ${line}`);
    seen.add(series);
    checkLabels(labels);
  }
  return seen.size;
}
