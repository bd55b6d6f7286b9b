// The bounds of the evaluation of one call: nested commands, depth, characters, paths and time. What is beyond them is unknown.

/** Max number of nested commands that are evaluated. */
const maxNestedCommands = 64;
/** Max depth of commands in commands. */
const maxDepth = 5;
const maxCharacters = 400_000;
const maxPaths = 2000;
const maxMilliseconds = 2000;

/** Counts the work of one evaluation. */
export class ReadingBudget {
  #nestedCommands = 0;
  #characters = 0;
  #paths = 0;
  readonly #deadline = performance.now() + maxMilliseconds;
  #isExceeded = false;

  /** True after any bound was reached. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** Counts a nested command of this length and depth; false if it must not be evaluated. */
  spendNested(length: number, depth: number): boolean {
    this.#nestedCommands += 1;
    this.#characters += length;
    return this.#require(
      depth <= maxDepth && this.#nestedCommands <= maxNestedCommands && this.#characters <= maxCharacters,
    );
  }

  /** Counts a path; false if it must not be resolved. */
  spendPath(): boolean {
    this.#paths += 1;
    return this.#require(this.#paths <= maxPaths);
  }

  /** States that a part cannot be evaluated. */
  exceed(): void {
    this.#isExceeded = true;
  }

  #require(isWithin: boolean): boolean {
    if (!isWithin || performance.now() > this.#deadline) this.#isExceeded = true;
    return !this.#isExceeded;
  }
}
