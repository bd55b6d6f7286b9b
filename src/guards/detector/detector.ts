// The injection detector: scores how much a text looks like an instruction to a model. A weak signal that raises questions; it never allows anything.
import { decodeViews } from './decoded-views.ts';
import { createKernel, maxWindowWords } from './kernel.ts';
import { DetectorNetwork } from './network.ts';
import { normalizeForDetector } from './normalize.ts';
import { splitWords } from './split-words.ts';
import { loadWeights, parseWeights } from './weights.ts';
import { WordProjections } from './word-projections.ts';

/** A word has at least one character. */
const windowChars = maxWindowWords;
const windowStride = 900;
/** Longer texts are cut: what is behind is not scored, and `isCut` says so. */
const maxTextChars = 16_000_000;

/** The default threshold: on each of seven families of harmless documents at most 1 % were above it. Other documents differ. */
export const defaultDetectorThreshold = 1.746;

/** Where a text comes from: a tool, or the user. */
export type DetectorChannel = 'tool' | 'user';

/** What the detector says about a text. */
export type DetectorScore = {
  /** A logit: higher means more like an instruction. Not a probability. */
  readonly score: number;
  /** Where the window with the highest score starts in the normalized text; absent if a decoded text has the highest score. */
  readonly at?: number;
  /** Whether the highest score is that of the text as it stands, or of a text that it encodes. */
  readonly view: 'plain' | 'decoded';
  /** Whether the text was too long, so that its end was not read. */
  readonly isCut?: boolean;
};

/** An injection detector. */
export type Detector = {
  /** Scores a text. Takes time linear in its length. */
  readonly score: (text: string, channel?: DetectorChannel) => DetectorScore;
};

/** Options of createDetector. */
export type DetectorOptions = {
  /** The content of the file with the weights; default: the file of the package. */
  readonly weights?: Uint8Array;
};

/** Creates a detector. Reads 1.4 MB of weights; one detector serves a whole process. */
export function createDetector({ weights }: DetectorOptions = {}): Detector {
  const parsed = weights ? parseWeights(weights) : loadWeights();
  const kernel = createKernel(parsed);
  const words = new WordProjections(parsed, kernel);
  const network = new DetectorNetwork(parsed, kernel);
  const numbers = new Int32Array(windowChars);

  function scoreWindow(text: string, from: number, channel: number): number {
    if (words.isNearlyFull(windowChars)) words.clear();
    let count = 0;
    splitWords(text, from, Math.min(from + windowChars, text.length), (word) => {
      numbers[count++] = words.numberOf(word);
    });
    return network.score(numbers, count, channel);
  }

  /** The highest score of the windows of a text. */
  function scoreText(text: string, channel: number): { readonly score: number; readonly at: number } {
    const normalized = normalizeForDetector(text);
    let best = { score: scoreWindow(normalized, 0, channel), at: 0 };
    for (let at = windowStride; at + windowChars - windowStride < normalized.length; at += windowStride) {
      const score = scoreWindow(normalized, at, channel);
      if (score > best.score) best = { score, at };
    }
    return best;
  }

  return {
    score(given, channel = 'tool') {
      const isCut = given.length > maxTextChars;
      const text = isCut ? given.slice(0, maxTextChars) : given;
      const input = channel === 'user' ? 1 : 0;
      let best: DetectorScore = { ...scoreText(text, input), view: 'plain' };
      for (const view of decodeViews(text)) {
        const { score } = scoreText(view, input);
        if (score > best.score) best = { score, view: 'decoded' };
      }
      return isCut ? { ...best, isCut } : best;
    },
  };
}
