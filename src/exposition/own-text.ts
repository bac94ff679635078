/** prom-client's text of the exporter's own metrics, in both formats. It knows nothing of what they count. */
import type { Format } from './format.ts';

/** Gives the same Buffer while the text is the same, so that it need not be compressed again. */
export function keptByFormat(render: () => Promise<string>): (format: Format) => Promise<Buffer> {
  const kept = new Map<Format, { readonly text: string; readonly bytes: Buffer }>();
  return async (format) => {
    // prom-client separates families by an empty line, which OpenMetrics does not allow.
    const plain = (await render()).replaceAll(/\n{2,}/g, '\n');
    const text = format === 'openmetrics' ? toOpenMetrics(plain) : plain;
    const known = kept.get(format);
    if (known?.text === text) return known.bytes;
    const bytes = Buffer.from(text);
    kept.set(format, { text, bytes });
    return bytes;
  };
}

/**
 * A family is named less its `_total` or `_info`, and has its unit. prom-client's own OpenMetrics mode renames its counters
 * for good, which would spoil the next text page.
 */
function toOpenMetrics(text: string): string {
  return text
    .replaceAll(/^# HELP (\w+)_total (.*\n)# TYPE \1_total counter$/gm, '# HELP $1 $2# TYPE $1 counter')
    .replaceAll(/^# HELP (\w+)_info (.*\n)# TYPE \1_info gauge$/gm, '# HELP $1 $2# TYPE $1 info')
    .replaceAll(/^(# TYPE (\w+_(seconds|bytes)) \w+)$/gm, '$1\n# UNIT $2 $3');
}
