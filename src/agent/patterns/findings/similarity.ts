// Compares findings: by their places, and by words that count more the rarer they are.
import { findTerms } from '../../../checks/judges/index.ts';
import type { Finding } from './finding.ts';

/** How close the locations of two findings are. `far` ones are never the same finding. */
export type LocationProximity = 'same' | 'near' | 'file' | 'unknown' | 'far';

/** A finding with what it is compared by. */
export type PreparedFinding = {
  readonly index: number;
  readonly file: string | undefined;
  readonly start: number | undefined;
  readonly end: number;
  /** Words, and names of code with a mark before them. */
  readonly terms: ReadonlySet<string>;
  /** Equal for findings with the same place and the same words. */
  readonly key: string;
};

/** Lines between two places that may still be one. */
export const nearLines = 3;
/** A longer range says little about the place. */
const maxPreciseLines = 40;
/** Only the beginning of a longer text is compared. */
const maxComparedChars = 600;
/** Only the first words of a longer text are compared: each finding is compared with hundreds of others. */
const maxTerms = 60;

/** The similarity from which two findings are the same, by the proximity of their locations. Chosen on the development half of the planted set. */
export const mergeThresholds: Readonly<Record<Exclude<LocationProximity, 'far'>, number>> = {
  same: 0.2,
  near: 0.2,
  file: 0.35,
  unknown: 0.5,
};
/** Pairs with at least this part of their threshold are doubtful. At one place every pair is: other words can mean the same. */
export const doubtfulShares: Readonly<Record<Exclude<LocationProximity, 'far'>, number>> = {
  same: 0,
  near: 0,
  file: 0.5,
  unknown: 0.5,
};

/** Names of code: in backquotes, in camel case, with an underscore, or called. */
const codeName =
  /`([^`\s]{2,80})`|(?<![\w$])([a-z][a-z0-9$]*(?:[A-Z][A-Za-z0-9$]*)+|[A-Za-z$]\w*_\w+|[A-Za-z$][\w$]*(?=\(\)))/g;
const nameMark = '=';

/** Reads the place and the words of a finding. */
export function prepareFinding({ text, file, lines }: Finding, index: number): PreparedFinding {
  const terms = new Set<string>();
  const words = text.slice(0, maxComparedChars).replaceAll(codeName, (_, quoted?: string, plain?: string) => {
    const name = quoted ?? plain ?? '';
    terms.add(nameMark + name.replace(/\(\)$/, '').toLowerCase());
    return ' ';
  });
  for (const term of findTerms(words)) {
    if (terms.size >= maxTerms) break;
    terms.add(shorten(term));
  }
  const path = file === undefined ? undefined : normalizePath(file);
  const [start, end] = lines ?? [];
  const place = `${path ?? ''}\0${start ?? ''}\0${end ?? ''}`;
  return { index, file: path, start, end: end ?? 0, terms, key: `${place}\0${[...terms].toSorted().join(' ')}` };
}

/** The beginning of a word stands for its forms: "authorise" and "authorisation" are one. */
const shorten = (term: string): string => (/^[a-z]{6,}$/.test(term) ? term.slice(0, wordStart) : term);
const wordStart = 5;

const normalizePath = (file: string): string =>
  file
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/, '')
    .replaceAll(/\/{2,}/g, '/');

/** Returns how close the locations of two findings are. */
export function compareLocations(a: PreparedFinding, b: PreparedFinding): LocationProximity {
  if (a.file === undefined || b.file === undefined) return haveOtherNames(a, b) ? 'far' : 'unknown';
  if (a.file !== b.file) return 'far';
  if (a.start === undefined || b.start === undefined) return haveOtherNames(a, b) ? 'far' : 'file';
  const gap = Math.max(a.start, b.start) - Math.min(a.end, b.end);
  const isPrecise = Math.max(a.end - a.start, b.end - b.start) <= maxPreciseLines;
  if (gap <= 0) return isPrecise ? 'same' : 'file';
  if (!isPrecise) return 'far';
  return gap <= nearLines ? 'near' : 'far';
}

/** Whether both have names of code, and none in common. */
function haveOtherNames(a: PreparedFinding, b: PreparedFinding): boolean {
  const names = [...a.terms].filter((term) => term.startsWith(nameMark));
  if (names.length === 0 || names.some((name) => b.terms.has(name))) return false;
  return [...b.terms].some((term) => term.startsWith(nameMark));
}

/** Names of code say where a finding is, not what it is: they count less if the places are known to be close. */
const nameShares: Readonly<Record<Exclude<LocationProximity, 'far'>, number>> = {
  same: 0.15,
  near: 0.3,
  file: 1,
  unknown: 1,
};

/** Returns the share of the weight that the words of two findings have in common, from 0 to 1. */
export type TermComparison = (
  a: PreparedFinding,
  b: PreparedFinding,
  proximity: Exclude<LocationProximity, 'far'>,
) => number;

/** Creates a comparison of these findings: a word in few of them weighs more. Weights are computed once, because each finding is compared with many. */
export function createTermComparison(findings: readonly PreparedFinding[]): TermComparison {
  const counts = new Map<string, number>();
  for (const { terms } of findings) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const weights = new Map<string, number>();
  for (const [term, count] of counts) weights.set(term, Math.log(1 + findings.length / (count + 0.5)));
  const weigh = (term: string, nameShare: number): number =>
    (weights.get(term) ?? 0) * (term.startsWith(nameMark) ? nameShare : 1);
  const sumWeights = ({ terms }: PreparedFinding, nameShare: number): number => {
    let sum = 0;
    for (const term of terms) sum += weigh(term, nameShare);
    return sum;
  };
  const totals = new Map(
    findings.map((each) => {
      const words = sumWeights(each, 0);
      return [each, { words, names: sumWeights(each, 1) - words }];
    }),
  );
  return (a, b, proximity) => {
    const nameShare = nameShares[proximity];
    let total = 0;
    for (const each of [totals.get(a), totals.get(b)]) if (each) total += each.words + nameShare * each.names;
    const [few, many] = a.terms.size <= b.terms.size ? [a.terms, b.terms] : [b.terms, a.terms];
    let shared = 0;
    for (const term of few) if (many.has(term)) shared += weigh(term, nameShare);
    return total <= 0 ? 0 : (2 * shared) / total;
  };
}
