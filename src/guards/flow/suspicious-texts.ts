// Finds texts of third parties that look like instructions, for the question of the flow policy. A signal for the user: no decision depends on it.
import { createDetector, defaultDetectorThreshold, type Detector } from '../detector/index.ts';
import type { FlowState } from './flow-state.ts';
import type { FlowSource, LabelledValue } from './types.ts';

/** A text that looks like an instruction. */
export type SuspiciousText = { readonly source: FlowSource; readonly score: number };

/** At most so many characters are scored for one question, the latest first. */
const maxScoredChars = 200_000;

/** The suspicious texts among the sources of values; among all texts of third parties if no value has a source. The highest score of each call. */
export function findSuspiciousTexts(
  state: FlowState,
  values: readonly LabelledValue[],
  detector: Detector,
  threshold: number = defaultDetectorThreshold,
): readonly SuspiciousText[] {
  const calls = new Set(values.flatMap(({ source }) => (source ? [source.call] : [])));
  const found = new Map<string, SuspiciousText>();
  let rest = maxScoredChars;
  for (const entry of state.entries.toReversed()) {
    if (rest <= 0) break;
    if (entry.type !== 'untrusted' || (calls.size > 0 && !calls.has(entry.source.call))) continue;
    const { score } = detector.score(entry.text.slice(0, rest));
    rest -= entry.text.length;
    const { source } = entry;
    if (score > Math.max(threshold, found.get(source.call)?.score ?? threshold))
      found.set(source.call, { source, score });
  }
  return [...found.values()];
}

let shared: Detector | undefined;

/** The suspicious texts for a question, with one detector for the process. Without a detector the question is the same, except for its line about them. */
export function findSuspicious(
  state: FlowState,
  values: readonly LabelledValue[],
  threshold?: number,
): readonly SuspiciousText[] {
  if (!state.hasUntrusted) return [];
  try {
    shared ??= createDetector();
    return findSuspiciousTexts(state, values, shared, threshold);
  } catch {
    return [];
  }
}
