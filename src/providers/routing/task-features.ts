// Estimates task difficulty from keywords and from language-independent features.
import { trimEndChars } from '../../core/index.ts';
import { lexicon, type TaskKind } from './keyword-weights.ts';

/** The features of a task. */
export type TaskFeatures = {
  /** Difficulty from 0 to 1. */
  readonly complexity: number;
  /** The kind of task, used for success statistics. */
  readonly kind: TaskKind;
  /** The reasons, the strongest first. */
  readonly reasons: readonly string[];
};

/** Custom keyword weights from -1 (easy) to 1 (hard); they override the built-in ones. */
export type KeywordWeights = Readonly<Record<string, number>>;

/** Longer prompts count as pasted text. */
const maxTaskChars = 20_000;

/** Default difficulty if no keyword matches: the text may be in another language. */
const unknownLanguageComplexity = 0.3;

/** Analyzes a task. */
export function taskFeatures(task: string, customWeights: KeywordWeights = {}): TaskFeatures {
  const { prose, pasted } = splitPastedCode(task.slice(0, maxTaskChars));
  const words = segmentWords(prose);
  const found = weighWords(words, customWeights);
  const shape = shapeSignals(prose, words.length, pasted);
  const hard = found.filter(({ weight }) => weight > 0);
  const easy = found.filter(({ weight }) => weight < 0);
  const isUnknownLanguage =
    found.length === 0 && words.length >= 3 && !words.some((word) => commonEnglishWords.has(word));
  const risen = isUnknownLanguage ? unknownLanguageComplexity : combineWeights(hard.map(({ weight }) => weight));
  const eased = easy.reduce((product, { weight }) => product * (1 + weight), risen);
  const complexity = combineWeights([eased, ...shape.map(({ weight }) => weight)]);
  const [strongest] = found.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const because = [
    ...found,
    ...shape,
    ...(isUnknownLanguage ? [{ why: 'no word of it is in the lists', weight: unknownLanguageComplexity }] : []),
  ]
    .toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
    .map(({ why }) => why);
  return { complexity: Math.min(1, complexity), kind: strongest?.kind ?? 'other', reasons: because };
}

type ComplexitySignal = { readonly why: string; readonly weight: number };

/** Combines features so that the sum approaches 1 and never exceeds it. */
const combineWeights = (weights: readonly number[]): number =>
  1 - weights.reduce((product, weight) => product * (1 - weight), 1);

/** Splits the prompt into own text and the number of pasted characters: a long listing is not a hard task. */
function splitPastedCode(task: string): { readonly prose: string; readonly pasted: string } {
  const blocks: string[] = [];
  const prose = task.replaceAll(/^(```|~~~)[^]*?(?:^\1|$(?![^]))/gm, (block) => {
    blocks.push(block);
    return '\n';
  });
  return { prose, pasted: blocks.join('\n') };
}

// A segmenter loads data for 30 ms, so it is created for the first task.
let segmenter: Intl.Segmenter | undefined;

/** Returns the lower-case words of a text in any script. */
function segmentWords(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text)) if (isWordLike) words.push(segment.toLowerCase());
  return words;
}

type WeightedWord = ComplexitySignal & { readonly kind: TaskKind };

/** Returns each known keyword once. */
function weighWords(words: readonly string[], customWeights: KeywordWeights): readonly WeightedWord[] {
  const found = new Map<string, WeightedWord>();
  for (const word of new Set(words))
    for (const form of wordForms(word)) {
      const mine = Object.hasOwn(customWeights, form) ? customWeights[form] : undefined;
      const entry = lexicon.get(form);
      const weight = mine ?? entry?.weight;
      if (weight === undefined) continue;
      if (Number.isFinite(weight))
        found.set(form, { why: `"${word}"`, weight: Math.max(-1, Math.min(1, weight)), kind: entry?.kind ?? 'other' });
      break;
    }
  return [...found.values()];
}

/** Returns a word and its possible base forms: "redesign" is not "design", and "debug" is not "bug". */
function wordForms(word: string): readonly string[] {
  const plain = word.replace(/is(e[sd]?|ing|ation)$/, 'iz$1');
  const forms = [word, plain];
  for (const each of new Set([word, plain])) {
    for (const ending of ['s', 'es', 'd', 'ed']) if (each.endsWith(ending)) forms.push(each.slice(0, -ending.length));
    if (!each.endsWith('ing') || each.length < 6) continue;
    const root = each.slice(0, -3);
    forms.push(root, `${root}e`);
    if (root.at(-1) === root.at(-2)) forms.push(root.slice(0, -1));
  }
  return forms;
}

/** Whether a word looks like a path or a file name. */
const isFileLike = (word: string): boolean => /[\w.-]\/[\w.-]|[\w-]\.[a-z]{1,4}(?![\w])/i.test(word);

/** Language-independent features: length, steps, number of files. */
function shapeSignals(prose: string, words: number, pasted: string): readonly ComplexitySignal[] {
  const steps = prose.match(/^[ \t]*(?:[-*•]|\d{1,9}[.)])[ \t]+\S/gm)?.length ?? 0;
  const files = new Set((prose.match(/[\w./-]+/g) ?? []).map((word) => trimEndChars(word, '.-/')).filter(isFileLike))
    .size;
  const signals: readonly ComplexitySignal[] = [
    { why: `${words} words`, weight: Math.min(0.25, Math.log2(1 + words / 25) / 12) },
    { why: `${steps} steps`, weight: steps > 1 ? Math.min(0.3, 0.07 * steps) : 0 },
    { why: `${files} files`, weight: files > 1 ? Math.min(0.25, 0.06 * (files - 1)) : 0 },
    { why: 'a trace', weight: /^[ \t]+at .+:\d|^Traceback /m.test(`${prose}\n${pasted}`) ? 0.15 : 0 },
  ];
  return signals.filter(({ weight }) => weight >= 0.01);
}

/** Common English words, for language detection. */
const commonEnglishWords: ReadonlySet<string> = new Set(
  'the a an to of in is are it this that what how which and or for with my me please can you do does on'.split(' '),
);
