// Finds sentences of the evidence that say the same as a statement but for a negation or the last number. One pass over the characters, without copies.
import type { Evidence } from '../types.ts';
import { negatingWords } from '../words.ts';
import { findOccurrences, normalEvidence, oncePerText } from './source-text.ts';
import { hashCode, hashStart, hashWord } from '../word-hash.ts';

/** A sentence by a hash of its words without articles, auxiliaries, negations and the last number, which is apart. */
type Shape = { readonly key: number; readonly number: number; readonly isDenied: boolean };

/** Words are compared by their beginnings, so that "keep" and "keeps" are equal. */
const stemLength = 4;

const denyingWords = new Set([...negatingWords, 'cannot', 'without'].map(hashWord));
const smallWords = new Set(
  'a an the of in on at to for from by with and or is are was were be been has have had do does did will would can could that this it its'
    .split(' ')
    .map(hashWord),
);

const verbs = new Set('is are was were has have had'.split(' ').map(hashWord));

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 191;

/** Calls back for each sentence of a text. */
function readShapes(text: string, onShape: (shape: Shape) => void): void {
  let words: number[] = [];
  let numberAt = -1;
  let hasVerb = false;
  let isAfterVerb = false;
  let isDenied = false;
  const endSentence = (): void => {
    // A number before the verb, or in the first half, belongs to the name of the subject, as in `part 7`.
    const isApart = numberAt >= 1 && (isAfterVerb || (numberAt >= 2 && numberAt * 2 >= words.length));
    let key = hashStart;
    for (let at = 0; at < words.length; at++) key = hashCode(key, isApart && at === numberAt ? 35 : (words[at] ?? 0));
    if (words.length > 0) onShape({ key, number: isApart ? (words[numberAt] ?? 0) : 0, isDenied });
    words = [];
    numberAt = -1;
    hasVerb = false;
    isAfterVerb = false;
    isDenied = false;
  };
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) {
      let hash = hashStart;
      for (; at < text.length; at++) {
        const digit = text.charCodeAt(at);
        if (isDigit(digit)) hash = hashCode(hash, digit);
        else if (!((digit === 44 || digit === 46) && isDigit(text.charCodeAt(at + 1)))) break;
      }
      numberAt = words.length;
      isAfterVerb = hasVerb;
      words.push(hash);
    } else if (isLetter(code)) {
      const start = at;
      let [full, stem] = [hashStart, hashStart];
      for (; at < text.length && isLetter(text.charCodeAt(at)); at++) {
        const letter = text.charCodeAt(at);
        full = hashCode(full, letter <= 90 ? letter | 32 : letter);
        if (at - start < stemLength) stem = full;
      }
      const mark = text.charCodeAt(at);
      const isShort =
        (mark === 39 || mark === 8217) &&
        (text.charCodeAt(at + 1) | 32) === 116 &&
        (text.charCodeAt(at - 1) | 32) === 110;
      if (isShort) {
        isDenied = true;
        at += 2;
      } else if (denyingWords.has(full)) isDenied = true;
      else if (smallWords.has(full)) hasVerb ||= verbs.has(full);
      else words.push(stem);
    } else {
      const next = text.charCodeAt(at + 1);
      if ((code === 46 || code === 33 || code === 63) && (next <= 32 || Number.isNaN(next))) endSentence();
      else if (code === 12_290 || (code === 10 && next === 10)) endSentence();
      at += 1;
    }
  }
  endSentence();
}

/** The numbers of the sentences of one shape, those that are denied apart. */
type Numbers = { readonly stated: Set<number>; readonly denied: Set<number> };

const shapesOf = oncePerText((text): ReadonlyMap<number, Numbers> => {
  const shapes = new Map<number, Numbers>();
  readShapes(text, ({ key, number, isDenied }) => {
    let numbers = shapes.get(key);
    if (!numbers) shapes.set(key, (numbers = { stated: new Set(), denied: new Set() }));
    numbers[isDenied ? 'denied' : 'stated'].add(number);
  });
  return shapes;
});

const definition = /^(\p{Lu}[^.,;:!?]{0,80}?) (?:is|was) (the [^]+)$/u;

/** Whether another subject has what a statement says only one has, such as "is the director". */
function hasRival(statement: string, evidence: readonly Evidence[]): boolean {
  const [, subject = '', rest = ''] = definition.exec(statement) ?? [];
  if (subject === '') return false;
  return evidence.some((each) => {
    const { text } = normalEvidence(each);
    for (const at of findOccurrences(text, rest)) {
      const before = /(\S+) (?:is|was) $/.exec(text.slice(Math.max(0, at - 100), at));
      if (before && !subject.endsWith(before[1] ?? '')) return true;
    }
    return false;
  });
}

/** Whether a sentence of the evidence says the same with another last number or of another subject, or denies it. Two sentences whose hashes are equal by chance are taken as a conflict. */
export function hasConflict(statement: string, evidence: readonly Evidence[]): boolean {
  let found = hasRival(statement, evidence);
  readShapes(statement, ({ key, number, isDenied }) => {
    for (const each of evidence) {
      const numbers = shapesOf(each).get(key);
      if (!numbers) continue;
      const [same, opposite] = isDenied ? [numbers.denied, numbers.stated] : [numbers.stated, numbers.denied];
      found ||= opposite.has(number) || (!isDenied && same.size > (same.has(number) ? 1 : 0));
    }
  });
  return found;
}
