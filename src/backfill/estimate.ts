/** How large a history will be, from the first answers. Pure. */
import { renderNumber } from '../exposition/format.ts';
import type { Labels } from '../resources/resource.ts';
import { rowStart } from './output.ts';
import type { Fill } from './rows.ts';

/** Of a time in seconds, with what is around it. */
const timeLength = ' 1795788000\n'.length;

export class Estimate {
  readonly #labels: Labels;
  series = 0;
  samples = 0;
  bytes = 0;

  /** labels: those that each row has beside its own. */
  constructor(labels: Labels) {
    this.#labels = labels;
  }

  /**
   * Takes a series for several like it.
   *
   * @param ofTime how many times as long as this the history is
   */
  add(name: string, labels: Labels, fill: Fill, { times = 1, ofTime = 1 } = {}): void {
    let samples = 0;
    let last = 0;
    fill((_atMs, value) => {
      samples++;
      last = value;
    });
    if (samples === 0) return;
    const start = rowStart(name, { ...labels, ...this.#labels }).length;
    // As long as a counter's value is on average, in the middle of the time.
    const middle = last > 1 ? renderNumber(Math.ceil((last * ofTime) / 2)).length : 1;
    this.series += times;
    this.samples += samples * times * ofTime;
    this.bytes += samples * times * ofTime * (start + middle + timeLength);
  }
}
