// Words that somebody is writing: kept in the tab until they are sent, so that neither a reload nor a server that is gone loses them.
import { useCallback, useState } from 'preact/hooks';

/** The words under a name, and how to change them; empty words are forgotten. */
export function useDraft(name: string): readonly [words: string, change: (words: string) => void] {
  const place = `fairlead-draft ${name}`;
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
