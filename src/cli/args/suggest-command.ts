// A lone word that was probably meant to be a command: "sesions" is no prompt.
import { closestMatches } from '../../core/did-you-mean.ts';

/** What to say about a word that is nearly the name of a command; nothing if it is not. */
export function suggestCommand(word: string, names: readonly string[]): string | undefined {
  if (!/^[a-z-]+$/.test(word) || word.startsWith('-')) return undefined;
  // A short word is close to every short name: "say" and "hi" are words to a model, and no "why".
  const isLike = (name: string): boolean => word.length > 3 || name[0] === word[0];
  const meant = closestMatches(word, names).find((name) => isLike(name) && Math.abs(name.length - word.length) <= 2);
  return meant === undefined
    ? undefined
    : `There is no command "${word}"; did you mean "${meant}"? To ask a model this one word: fairlead run ${word}`;
}
