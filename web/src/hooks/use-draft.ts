// Text drafts in sessionStorage: they survive a reload and an unreachable server until they are sent.
import { useCallback, useState } from 'preact/hooks';
import { draftRoute } from '../state/router.ts';

/** Returns the draft with this name and its setter; an empty draft is removed. */
export function useDraft(name: string): readonly [words: string, change: (words: string) => void] {
  const place = draftRoute(name);
  const [words, setWords] = useState(() => sessionStorage.getItem(place) ?? '');
  const change = useCallback(
    (next: string): void => {
      setWords(next);
      if (next === '') sessionStorage.removeItem(place);
      else sessionStorage.setItem(place, next);
    },
    [place],
  );
  return [words, change];
}
