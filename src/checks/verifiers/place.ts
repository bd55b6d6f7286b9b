// Finds the place of a part of evidence in its whole document, and the objections of the title and the path of the document.
import type { Evidence, TextSpan } from '../types.ts';
import { hasDenial } from './assertion.ts';
import { collectingWords, strongDenial } from './framing-words.ts';
import { isMarkedTitle } from './source-marks.ts';

/** A place in a complete text. */
export type Place = {
  /** The complete text. */
  readonly whole: Evidence;
  readonly span: TextSpan;
};

/** Folders and files that hold what is not valid or not meant. */
const markedPath =
  /(?:^|[/._-])(?:archived?|attic|deprecated|obsolete|outdated|superseded|drafts?|rejected|withdrawn|retired|legacy|myths?|misconceptions|fixtures?|fiction|errata|lorem)(?=[/._-]|$)/i;

/** Returns where a part of evidence is in its complete document. Undefined if the document is not known, if it is not what it was, or if its title or path says that it states no facts. */
export function findWhole(evidence: Evidence, span: TextSpan): Place | undefined {
  const { source, text, within } = evidence;
  if (source.type !== 'document') return { whole: evidence, span };
  if (!within || markedPath.test(source.path)) return undefined;
  const { whole, start, title } = within();
  if (!whole.text.startsWith(text, start) || (title !== undefined && isDenyingTitle(title))) return undefined;
  return { whole, span: { start: span.start + start, end: span.end + start } };
}

/** Whether a title says that what is below it is not so, invented, no longer valid, or only collected. */
const isDenyingTitle = (title: string): boolean =>
  strongDenial.test(title) || hasDenial(title) || collectingWords.test(title) || isMarkedTitle(title);

/** Returns the evidence of a claim with one text replaced by its whole document; other parts of that document are left out. */
export const withWhole = (evidence: readonly Evidence[], { whole }: Place): readonly Evidence[] => [
  whole,
  ...evidence.filter((each) => each !== whole && each.within?.().whole !== whole),
];
