// Counts the alarms of the injection detector on documents of the user, and finds the threshold for a wanted rate of alarms.
import { isObject } from '../../core/index.ts';
import type { Detector } from './detector.ts';

/** A document: a file, a row of a JSONL file, or a result of a tool in a session. */
export type DetectorDocument = { readonly name: string; readonly text: string };

/** The alarms on documents. If all of them are harmless, these are false alarms. */
export type DetectorReport = {
  readonly threshold: number;
  readonly documents: number;
  /** UTF-8 bytes of all documents. */
  readonly bytes: number;
  readonly alarms: readonly { readonly name: string; readonly score: number }[];
  /** The scores of all documents, the highest first. */
  readonly scores: readonly number[];
};

/** Scores documents. Those with a score above the threshold are alarms. */
export function scanDocuments(
  detector: Detector,
  documents: Iterable<DetectorDocument>,
  threshold: number,
): DetectorReport {
  const scored = Array.from(documents, ({ name, text }) => ({
    name,
    score: detector.score(text).score,
    bytes: Buffer.byteLength(text),
  })).toSorted((a, b) => b.score - a.score);
  return {
    threshold,
    documents: scored.length,
    bytes: scored.reduce((sum, { bytes }) => sum + bytes, 0),
    alarms: scored.filter(({ score }) => score > threshold).map(({ name, score }) => ({ name, score })),
    scores: scored.map(({ score }) => score),
  };
}

/** The lowest threshold above which at most a share of the scores is. `scores`: the highest first. */
export function calibrateThreshold(scores: readonly number[], rate: number): number | undefined {
  return scores[Math.floor(scores.length * rate + 1e-9)] ?? scores.at(-1);
}

/** The documents of a file: results of tools in the log of a session, texts of other JSONL rows, or the whole file. */
export function readDetectorDocuments(name: string, content: string): readonly DetectorDocument[] {
  const rows = name.endsWith('.jsonl') ? parseRows(content) : undefined;
  if (rows === undefined) return [{ name, text: content }];
  const isSession = rows.some((row) => row['type'] === 'session-started');
  return rows.flatMap((row, i) => {
    const { text } = row;
    const isDocument = typeof text === 'string' && text !== '' && (!isSession || row['type'] === 'tool-ended');
    return isDocument ? [{ name: `${name}:${i + 1}`, text }] : [];
  });
}

/** The rows of a JSONL file; undefined if a line is something else, so that the file is read as a text. */
function parseRows(content: string): readonly Readonly<Record<string, unknown>>[] | undefined {
  try {
    const rows: unknown[] = content
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as unknown);
    return rows.every(isObject) ? rows : undefined;
  } catch {
    return undefined;
  }
}
