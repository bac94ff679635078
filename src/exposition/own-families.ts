/** The exporter's own families as bytes. */
import { type Format, type Header, type Labels, renderHeader, renderLabels, renderRow } from './format.ts';

export interface OwnFamily extends Header {
  readonly rows: readonly OwnRow[];
}

export interface OwnRow {
  readonly labels?: Labels;
  readonly value: number;
  /** What stands after the family's name, such as `_sum`. */
  readonly suffix?: string;
}

/** Some families. They are read again once they are outdated, and are the same Buffer while their rows stay the same. */
export class OwnFamilies {
  readonly #read: () => readonly OwnFamily[] | Promise<readonly OwnFamily[]>;
  readonly #rendered = new Map<Format, { readonly version: number; readonly bytes: Buffer }>();
  #version = 0;

  constructor(read: () => readonly OwnFamily[] | Promise<readonly OwnFamily[]>) {
    this.#read = read;
  }

  async bytes(format: Format): Promise<Buffer> {
    const version = this.#version;
    const before = this.#rendered.get(format);
    if (before?.version === version) return before.bytes;
    const families = await this.#read();
    const now = Buffer.from(families.map((family) => render(family, format)).join(''));
    const bytes = before?.bytes.equals(now) ? before.bytes : now;
    this.#rendered.set(format, { version, bytes });
    return bytes;
  }

  outdate(): void {
    this.#version++;
  }
}

function render(family: OwnFamily, format: Format): string {
  const { name, rows } = family;
  const texts = rows.map(({ labels, value, suffix = '' }) =>
    renderRow(name + suffix, renderLabels(labels), value),
  );
  return renderHeader(family, format) + texts.join('');
}
