// Finds personal data in a text: accounts, cards, national ids, e-mail addresses and phone numbers. Numbers are read once for all detectors.
import { cardDetector, ibanDetector } from './accounts.ts';
import { emailDetector, phoneDetector } from './contacts.ts';
import { letteredIdDetectors } from './lettered-ids.ts';
import { nationalNumberDetectors } from './national-ids.ts';
import { findNumberWindows, type NumberDetector } from './number-windows.ts';
import type { Detector, DlpFinding } from './types.ts';

/** The detectors in the order of their strength: where two ranges overlap, the first one names the kind. */
const detectors: readonly Detector[] = [ibanDetector, ...letteredIdDetectors, emailDetector, phoneDetector];
const numberDetectors: readonly NumberDetector[] = [cardDetector, ...nationalNumberDetectors];

/** The kinds of personal data that are found. */
export const personalKinds: readonly string[] = [...detectors, ...numberDetectors].map(({ kind }) => kind);

/** Returns the personal data of a text, without some kinds. Ranges may overlap. */
export function findPersonalData(text: string, without: ReadonlySet<string> = new Set()): readonly DlpFinding[] {
  const found: DlpFinding[] = [];
  if (/\d/.test(text))
    for (const window of findNumberWindows(text)) {
      const match = numberDetectors.find((each) => each.matches(window, text));
      if (match && !without.has(match.kind))
        found.push({ from: window.from, to: window.to, kind: match.kind, category: 'personal' });
    }
  for (const { kind, find } of detectors)
    if (!without.has(kind)) for (const { from, to } of find(text)) found.push({ from, to, kind, category: 'personal' });
  return found;
}
