// Observable values that components subscribe to.
import { useEffect, useState } from 'preact/hooks';

/** A value with a setter and subscribers. */
export type Atom<T> = {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly subscribe: (seen: (value: T) => void) => () => void;
};

/** Creates an atom. Setting the same value again notifies no subscriber. */
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

/** Returns the value of an atom, and renders the component again when it changes. */
export function useAtom<T>(source: Atom<T>): T {
  const [value, setValue] = useState(() => source.get());
  useEffect(() => {
    // The value may have changed between the render and this effect.
    setValue(() => source.get());
    return source.subscribe((next) => setValue(() => next));
  }, [source]);
  return value;
}

/** The text of the live region that announces the result of user actions. */
export const announcement: Atom<string> = createAtom('');
