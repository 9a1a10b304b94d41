// A growing list of ascending whole numbers below 2^32, whose beginning can be dropped.

export class Numbers {
  #values = new Uint32Array(1024);
  #begin = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#begin;
  }

  at(place: number): number | undefined {
    return place < 0 || place >= this.length ? undefined : this.#values[this.#begin + place];
  }

  push(value: number): void {
    if (this.#end === this.#values.length) {
      const grown = new Uint32Array(Math.max(1024, this.length * 2));
      grown.set(this.#values.subarray(this.#begin, this.#end));
      this.#end -= this.#begin;
      this.#begin = 0;
      this.#values = grown;
    }
    this.#values[this.#end] = value;
    this.#end += 1;
  }

  /** The place of the first that is `value` or greater; length: there is none. */
  place(value: number): number {
    let low = this.#begin;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#values[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low - this.#begin;
  }

  has(value: number): boolean {
    return this.at(this.place(value)) === value;
  }

  dropBelow(value: number): void {
    this.#begin += this.place(value);
  }

  clear(): void {
    this.#begin = this.#end = 0;
  }
}
