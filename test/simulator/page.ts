import type { Exporter } from '../../src/exporter.ts';

export interface Page {
  readonly text: string;
  /** The sum over the series that begin with the text. */
  sum(start: string): number;
}

export async function readPage(exporter: Exporter): Promise<Page> {
  const text = await exporter.page();
  return {
    text,
    sum(start) {
      const rows = text.split('\n').filter((line) => line.startsWith(start));
      return rows.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
  };
}
