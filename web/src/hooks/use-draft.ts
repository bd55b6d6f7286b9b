// Text drafts in sessionStorage: they survive a reload and an unreachable server until they are sent.
import { useCallback, useState } from 'preact/hooks';
import { getDraftKey } from '../state/router.ts';

/** Returns the draft with this name and its setter; an empty draft is removed. */
export function useDraft(name: string): readonly [words: string, change: (words: string) => void] {
  const storageKey = getDraftKey(name);
  const [words, setWords] = useState(() => sessionStorage.getItem(storageKey) ?? '');
  const change = useCallback(
    (next: string): void => {
      setWords(next);
      if (next === '') sessionStorage.removeItem(storageKey);
      else sessionStorage.setItem(storageKey, next);
    },
    [storageKey],
  );
  return [words, change];
}
