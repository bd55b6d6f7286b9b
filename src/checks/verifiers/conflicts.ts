// Finds sentences of the evidence that say the same as a statement but for a negation or the last number.
import type { Evidence } from '../types.ts';
import { contentWords, splitSentences } from '../words.ts';
import { hasDenial } from './assertion.ts';

/** A sentence by its content words without the last number, which is apart. */
type Shape = { readonly key: string; readonly number: string; readonly isDenied: boolean };

/** The first words name the subject; a number among them belongs to its name. */
const subjectWords = 2;

function readShape(sentence: string): Shape {
  const words = contentWords(sentence);
  const at = words.findLastIndex((word) => /^\d+$/.test(word));
  const number = at < subjectWords ? '' : (words[at] ?? '');
  if (number !== '') words[at] = '#';
  return { key: words.join(' '), number, isDenied: hasDenial(sentence) };
}

/** The numbers of the sentences of one shape, those that are denied apart. */
type Numbers = { readonly stated: Set<string>; readonly denied: Set<string> };

const knownShapes = new WeakMap<Evidence, ReadonlyMap<string, Numbers>>();

function getShapes(evidence: Evidence): ReadonlyMap<string, Numbers> {
  const known = knownShapes.get(evidence);
  if (known) return known;
  const shapes = new Map<string, Numbers>();
  for (const paragraph of evidence.text.split('\n\n'))
    for (const sentence of splitSentences(paragraph)) {
      const { key, number, isDenied } = readShape(sentence);
      if (key === '') continue;
      const numbers = shapes.get(key) ?? { stated: new Set(), denied: new Set() };
      numbers[isDenied ? 'denied' : 'stated'].add(number);
      shapes.set(key, numbers);
    }
  knownShapes.set(evidence, shapes);
  return shapes;
}

/** Whether a sentence of the evidence says the same with another last number, or denies it. */
export function hasConflict(statement: string, evidence: readonly Evidence[]): boolean {
  const { key, number, isDenied } = readShape(statement);
  return evidence.some((each) => {
    const numbers = getShapes(each).get(key);
    if (!numbers) return false;
    const [same, opposite] = isDenied ? [numbers.denied, numbers.stated] : [numbers.stated, numbers.denied];
    return opposite.has(number) || (!isDenied && same.size > (same.has(number) ? 1 : 0));
  });
}
