// A value that several parts of the page watch.
import { useEffect, useState } from 'preact/hooks';

/** A value, how to change it, and who is told. */
export type Atom<T> = {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly subscribe: (seen: (value: T) => void) => () => void;
};

/** A cell with a first value. Setting the same value again tells nobody. */
export function createAtom<T>(first: T): Atom<T> {
  let value = first;
  const watchers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const seen of watchers) seen(next);
    },
    subscribe(seen) {
      watchers.add(seen);
      return () => void watchers.delete(seen);
    },
  };
}

/** The value of a cell in a component, drawn again whenever it changes. */
export function useAtom<T>(source: Atom<T>): T {
  const [value, setValue] = useState(() => source.get());
  useEffect(() => {
    // It may have changed between the drawing and this.
    setValue(() => source.get());
    return source.subscribe((next) => setValue(() => next));
  }, [source]);
  return value;
}

/** What a screen reader is told of what somebody just did; one place on the page says it. */
export const announcement: Atom<string> = createAtom('');
