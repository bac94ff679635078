/** A first-in, first-out queue. `shift()` of a long array moves all of it each time. */
export class Fifo<Item> {
  #items: Item[] = [];
  /** The index of the first item. */
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#first];
    if (this.length > 0) this.#first++;
    // What is copied was pushed at least as often as it was shifted, so an item is moved once on average.
    if (this.#first > this.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
