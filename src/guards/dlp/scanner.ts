// The scanner: finds secrets, personal data, patterns of the user and private values in a text, and replaces them.
import { findSecretPatterns } from '../redaction/patterns.ts';
import { redactionPlaceholder } from '../redaction/redactor.ts';
import { findPersonalData } from './find-personal-data.ts';
import { createPrivateValues, type PrivateValues } from './private-values.ts';
import type { DlpFinding, FindingCategory } from './types.ts';
import { compilePattern, type DlpPattern } from './user-patterns.ts';

/** Finds and replaces what must not leave. */
export type DlpScanner = {
  /** Returns the findings in the order of the text; they do not overlap. Throws if a detector fails. */
  find(text: string): readonly DlpFinding[];
  /** Returns the text with each finding replaced; by default with a placeholder that names its kind. */
  redact(text: string, replace?: (value: string, finding: DlpFinding) => string): string;
  /** The values that are marked private. */
  readonly privateValues: PrivateValues;
};

/** Options of createDlpScanner. */
export type DlpScannerOptions = {
  readonly patterns?: readonly DlpPattern[];
  /** The values that are marked private. */
  readonly privateValues?: PrivateValues;
  /** Kinds that are not searched for, such as `email`. */
  readonly ignore?: readonly string[];
  /** Another search for personal data, instead of the built-in detectors. */
  readonly findPersonal?: (text: string) => readonly DlpFinding[];
};

/** Creates a scanner. */
export function createDlpScanner(options: DlpScannerOptions = {}): DlpScanner {
  const {
    patterns = [],
    privateValues = createPrivateValues(),
    ignore = [],
    findPersonal = findPersonalData,
  } = options;
  const compiled = patterns.map((each) => [each.name, compilePattern(each)] as const);
  const ignored = new Set(ignore);
  const find = (text: string): readonly DlpFinding[] => {
    if (text.length < 3) return [];
    const found: DlpFinding[] = [...privateValues.find(text)];
    for (const [kind, pattern] of compiled)
      for (const {
        0: { length },
        index,
      } of text.matchAll(pattern))
        if (length > 0) found.push({ from: index, to: index + length, kind, category: 'pattern' });
    for (const { from, to, kind } of findSecretPatterns(text)) found.push({ from, to, kind, category: 'secret' });
    found.push(...findPersonal(text));
    return mergeFindings(found.filter(({ kind }) => !ignored.has(kind)));
  };
  return {
    privateValues,
    find,
    redact(text, replace = (_, { kind }) => redactionPlaceholder(kind)) {
      const pieces: string[] = [];
      let end = 0;
      for (const finding of find(text)) {
        pieces.push(text.slice(end, finding.from), replace(text.slice(finding.from, finding.to), finding));
        end = finding.to;
      }
      return [...pieces, text.slice(end)].join('');
    },
  };
}

const strength: readonly FindingCategory[] = ['private', 'pattern', 'secret', 'personal'];

/** Joins overlapping ranges. The strongest category, then the longest range, names the kind. */
function mergeFindings(found: readonly DlpFinding[]): readonly DlpFinding[] {
  const merged: DlpFinding[] = [];
  for (const finding of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = merged.at(-1);
    if (last === undefined || finding.from >= last.to) {
      merged.push(finding);
      continue;
    }
    const order = strength.indexOf(finding.category) - strength.indexOf(last.category);
    const named = order < 0 || (order === 0 && finding.to - finding.from > last.to - last.from) ? finding : last;
    merged[merged.length - 1] = { ...named, from: last.from, to: Math.max(last.to, finding.to) };
  }
  return merged;
}

/** How many findings of each kind. */
export function countFindings(findings: Iterable<DlpFinding>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Counts as words, such as `2 email, 1 iban`. */
export const formatCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
