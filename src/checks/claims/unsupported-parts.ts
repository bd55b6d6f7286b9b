// Finds headings, table headers, questions and images of an answer that say more than its supported claims: they are struck out, too.
import { findTerms, isNegated } from '../judges/index.ts';
import type { CheckedClaim, TextSpan } from '../types.ts';
import { contentWords } from '../words.ts';
import { splitAnswer, type SkippedReason } from './split-claims.ts';

/** Words of titles and closing questions that state nothing. */
const neutralWords: ReadonlySet<string> = new Set(
  contentWords(
    `summary overview introduction background detail details note notes answer answers question questions result results
    conclusion conclusions example examples step steps list table section part chapter content contents reference references
    source sources citation citations evidence link links see more further reading next description explanation definition
    analysis discussion context scope purpose goal usage use uses using installation install setup configuration options option
    settings requirements prerequisites features limitations caveats changes changelog faq key point points main important
    general other others additional information info name value values item items type column row number no id comment comments
    status date short tldr anything else something like want need know help question let tell please understand clear
    frequently asked start started getting quick guide how why what which when where who`,
  ),
);

const checkedReasons: ReadonlySet<SkippedReason> = new Set(['question', 'title', 'table-header', 'image', 'links']);

/** Returns the parts that are no claims, but have a content word that neither the question nor one supported claim has together with the other words of the part. */
export function findUnsupportedParts(
  answer: string,
  claims: readonly CheckedClaim[],
  question = '',
): readonly TextSpan[] {
  const sources = [question, ...claims.flatMap(({ text, verdict }) => (verdict.type === 'supported' ? [text] : []))];
  const known = new Map<string, Set<number>>();
  for (const [i, source] of sources.entries())
    for (const term of findTerms(source)) {
      const set = known.get(term);
      if (set) set.add(i);
      else known.set(term, new Set([i]));
    }
  return splitAnswer(answer).skipped.flatMap(({ span, why }) => {
    if (!checkedReasons.has(why)) return [];
    const written = answer.slice(span.start, span.end);
    // The number of a heading says nothing.
    const text = why === 'title' ? written.replace(/^\d[\d.]{0,20}\)?(?=\s|$)/, '') : written;
    const terms = [...findTerms(text)].filter((term) => !neutralWords.has(term));
    const [first, ...others] = terms.map((term) => known.get(term) ?? new Set<number>());
    if (!first) return [];
    const negated = isNegated(text);
    const isCovered = [...first].some(
      (i) => others.every((set) => set.has(i)) && (i === 0 || isNegated(sources[i] ?? '') === negated),
    );
    return isCovered ? [] : [span];
  });
}
