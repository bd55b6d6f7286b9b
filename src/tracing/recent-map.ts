// A bounded map that keeps the entries used last. It has two generations: if the newer is full, the older is dropped. Deleting the oldest entry of one map instead takes longer the larger the map is.

/** A map of at most so many entries. */
export class RecentMap<Value extends object> {
  readonly #maxRecent: number;
  #recent = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(maxEntries: number) {
    this.#maxRecent = Math.ceil(maxEntries / 2);
  }

  /** The value of a key; it counts as used. */
  get(key: string): Value | undefined {
    const recent = this.#recent.get(key);
    if (recent) return recent;
    const older = this.#older.get(key);
    if (older) this.set(key, older);
    return older;
  }

  /** Sets the value of a key. */
  set(key: string, value: Value): void {
    if (this.#recent.size >= this.#maxRecent) [this.#older, this.#recent] = [this.#recent, new Map()];
    this.#recent.set(key, value);
  }
}
