// Recognizes words of outcomes, operations and figures by their first five letters, so that most sentences are left after one pass over their characters.
import { hashCode, hashStart } from '../word-hash.ts';

/** The bit of words that can be one of an outcome or an operation. */
export const outcomeStart = 1;
/** The bit of words that can stand beside a figure. */
export const figureStart = 2;

/** The first five letters of words of outcomes and operations in several languages. */
const outcomes =
  'pass passe passi green clean succe compl finis fine happy works build compi throu ok okay erfol besta beste fehle feher grün saube durch réuss succè vert propr corre éxito exito pasa pasan pasar super verde ' +
  'error warni probl issue failu fail findi vulne viola warnu befun erreu avert échec fallo aviso insta deplo bench profi kubec rollo rolle appli teste getes tag branc rama étiqu etiqu versi again ausge déplo despl ' +
  'runni ready healt up creat lancé ejecu com sem senza';

/** The first five letters of words without which a sentence has no figure and no short result. */
const figures =
  'fail fails faile faili failu skip skips skipp vulne error warni probl issue clean measu timed bench secon rerun reran re-ru re-ra ran done run execu check';

/** What a character is: 1 a letter, 2 a digit or code, 0 another sign. */
const kinds = new Uint8Array(0x10000);
kinds.fill(1, 65, 91).fill(1, 97, 123).fill(1, 0xc0, 0x250).fill(2, 48, 58);
kinds[0xe000] = 2;

/** How many letters a start has at most. */
export const maxPrefixLength = 5;

/** Adds a letter to the hash of a start: the hash of a word in lower case begins with it. Letters of both cases count as the same, also those with accents. */
const addLetter = (hash: number, code: number): number => hashCode(hash, code | 32);

function hashLetters(word: string): number {
  let hash = hashStart;
  for (let i = 0; i < word.length; i++) hash = addLetter(hash, word.charCodeAt(i));
  return hash;
}

/** The hashes of words that can stand behind an outcome that is a predicate: in `passed a clock` it is none. */
const followers = new Set(
  'and but in on with without after again now successfully both the it them to for und et y sin sans ohne correctamente terminó finished completed is was are were'
    .split(' ')
    .map(hashLetters),
);

const starts = new Map<number, number>();
for (const [bit, list] of [
  [outcomeStart, outcomes],
  [figureStart, figures],
] as const)
  for (const word of list.split(' ')) {
    const hash = hashLetters(word);
    starts.set(hash, (starts.get(hash) ?? 0) | bit);
  }

/** The last bits of the hashes: most words are left out without a search in the map. */
const startBits = new Uint8Array(0x2000);
for (const hash of starts.keys()) startBits[hash & 0x1fff] = 1;

/** What the word with this hash of its start can be. */
export const readStart = (hash: number): number => (startBits[hash & 0x1fff] === 1 ? (starts.get(hash) ?? 0) : 0);

/** Whether a part of a sentence has code, a digit, or a word of an outcome that can be a predicate. */
export function hasObjectWord(codes: Uint16Array, from: number, to: number, sentenceEnd: number): boolean {
  let kind = 0;
  for (let i = from; i < to; i++) {
    kind = kinds[codes[i] ?? 0] ?? 0;
    if (kind === 0) continue;
    if (kind === 2) return true;
    const last = i + maxPrefixLength;
    let hash = hashStart;
    for (; i < to; i++) {
      const code = codes[i] ?? 0;
      kind = kinds[code] ?? 0;
      if (kind !== 1) break;
      if (i < last) hash = addLetter(hash, code);
    }
    if ((readStart(hash) & outcomeStart) > 0 && isPredicate(codes, i, sentenceEnd)) return true;
    if (kind === 2) return true;
  }
  return false;
}

/** Whether the word that ends at a place can be a predicate by what follows it. */
export function isPredicate(codes: Uint16Array, at: number, to: number): boolean {
  if (at >= to || codes[at] !== 32) return true;
  let hash = hashStart;
  let end = at + 1;
  for (; end < to; end++) {
    const code = codes[end] ?? 0;
    if (kinds[code] !== 1) break;
    hash = addLetter(hash, code);
  }
  return end === at + 1 || followers.has(hash);
}
