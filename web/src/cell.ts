// A value that several parts of the page watch.
import { useEffect, useState } from 'preact/hooks';

/** A value, how to change it, and who is told. */
export type Cell<T> = {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly watch: (seen: (value: T) => void) => () => void;
};

/** A cell with a first value. Setting the same value again tells nobody. */
export function cell<T>(first: T): Cell<T> {
  let value = first;
  const watchers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const seen of watchers) seen(next);
    },
    watch(seen) {
      watchers.add(seen);
      return () => void watchers.delete(seen);
    },
  };
}

/** The value of a cell in a component, drawn again whenever it changes. */
export function useCell<T>(source: Cell<T>): T {
  const [value, setValue] = useState(() => source.get());
  useEffect(() => {
    // It may have changed between the drawing and this.
    setValue(() => source.get());
    return source.watch((next) => setValue(() => next));
  }, [source]);
  return value;
}

/** What a screen reader is told of what somebody just did; one place on the page says it. */
export const spoken: Cell<string> = cell('');
