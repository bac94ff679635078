/** The exporter's own metrics as bytes, in both formats. */
import type { Format } from './format.ts';

/**
 * A text in prom-client's form, as bytes. Keeps the Buffer of each format until the text is outdated, so that it shows whether
 * the text has changed.
 */
export class OwnText {
  readonly #render: () => Promise<string>;
  readonly #bytes = new Map<Format, Promise<Buffer>>();

  constructor(render: () => Promise<string>) {
    this.#render = render;
  }

  bytes(format: Format): Promise<Buffer> {
    const bytes = this.#bytes.get(format) ?? this.#render().then((text) => toBytes(text, format));
    this.#bytes.set(format, bytes);
    return bytes;
  }

  /** To be called when the text has changed. */
  outdate(): void {
    this.#bytes.clear();
  }
}

function toBytes(text: string, format: Format): Buffer {
  // prom-client separates families by an empty line, which OpenMetrics does not allow.
  const plain = text.replaceAll(/\n{2,}/g, '\n');
  return Buffer.from(format === 'openmetrics' ? toOpenMetrics(plain) : plain);
}

/**
 * Names a family without its `_total` or `_info`, and adds its unit. prom-client's own OpenMetrics mode renames its counters
 * permanently, which would spoil the next text page.
 */
function toOpenMetrics(text: string): string {
  return text
    .replaceAll(/^# HELP (\w+)_total (.*\n)# TYPE \1_total counter$/gm, '# HELP $1 $2# TYPE $1 counter')
    .replaceAll(/^# HELP (\w+)_info (.*\n)# TYPE \1_info gauge$/gm, '# HELP $1 $2# TYPE $1 info')
    .replaceAll(/^(# TYPE (\w+_(seconds|bytes)) \w+)$/gm, '$1\n# UNIT $2 $3');
}
