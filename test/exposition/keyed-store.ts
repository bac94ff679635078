/** The store, with its targets found by keys. */
import type { Labels } from '../../src/exposition/format.ts';
import { Store } from '../../src/exposition/store.ts';
import type { FamilySamples, TargetRows } from '../../src/exposition/target-rows.ts';

export class KeyedStore extends Store {
  readonly #targets = new Map<string, TargetRows>();

  replace(key: string, kind: string, labels: Labels, rows: readonly FamilySamples[]): void {
    const target = this.#targets.get(key) ?? this.target(kind, labels);
    this.#targets.set(key, target);
    target.replace(rows);
  }

  remove(key: string): void {
    this.#targets.get(key)?.remove();
    this.#targets.delete(key);
  }
}
