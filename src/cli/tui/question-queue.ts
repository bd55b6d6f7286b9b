// Rules for every question on the terminal: one question at a time, and no answer before the user could read it.

/** Milliseconds that a question must be visible before it accepts a key. */
export const MIN_VISIBLE_MS = 500;

/** Milliseconds without a key before a question accepts one: keys before that were typed for something else. */
export const MIN_IDLE_MS = 300;

/** Creates a function that runs its tasks one after another, in the order of the calls. */
export function createSerialQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
}
