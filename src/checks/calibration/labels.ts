// Parses lines of labelled answers: with a confidence, or with samples from which the confidence is measured.
import { FairleadError, isObject } from '../../core/index.ts';
import { measureUncertainty } from '../uncertainty/index.ts';
import { createRandom } from './curve.ts';
import type { Outcome } from './outcomes.ts';

/** A labelled answer. Without a confidence, such as with fewer than five samples, it is never accepted. */
export type LabelledAnswer = {
  readonly id?: string;
  /** The dataset that the answer belongs to. */
  readonly set?: string;
  /** Answers or claims that depend on each other, such as those of one question; one of them counts. */
  readonly group?: string;
  readonly confidence?: number;
  readonly correct: boolean;
};

/** Parses labelled answers, one JSON object per line; `maxSamples` limits the samples that are used. */
export function parseLabels(text: string, options: { readonly maxSamples?: number } = {}): readonly LabelledAnswer[] {
  const answers: LabelledAnswer[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    answers.push(parseLine(line, index + 1, options.maxSamples));
  }
  return answers;
}

/** Returns the answers that have a confidence, one of each group: the bound of a calibration needs independent outcomes. */
export function toOutcomes(answers: readonly LabelledAnswer[], seed = 1): readonly Outcome[] {
  const random = createRandom(seed);
  const byGroup = new Map<string, { readonly index: number; seen: number }>();
  const outcomes: Outcome[] = [];
  for (const { confidence, correct, group } of answers) {
    if (confidence === undefined) continue;
    const known = group === undefined ? undefined : byGroup.get(group);
    if (known) {
      // Each member of the group is kept with the same probability.
      known.seen += 1;
      if (random() < 1 / known.seen) outcomes[known.index] = { confidence, correct };
      continue;
    }
    if (group !== undefined) byGroup.set(group, { index: outcomes.length, seen: 1 });
    outcomes.push({ confidence, correct });
  }
  return outcomes;
}

function parseLine(line: string, number: number, maxSamples: number | undefined): LabelledAnswer {
  const value = parseJson(line);
  if (!isObject(value)) throw invalidLine(number, 'is not a JSON object');
  const correct = parseLabel(value['correct'] ?? value['label']);
  if (correct === undefined) throw invalidLine(number, 'has no `correct` (or `label`) that is true or false');
  const names = {
    ...(typeof value['id'] === 'string' ? { id: value['id'] } : {}),
    ...(typeof value['set'] === 'string' ? { set: value['set'] } : {}),
    ...(typeof value['group'] === 'string' ? { group: value['group'] } : {}),
  };
  if (value['confidence'] !== undefined) {
    const confidence = value['confidence'];
    if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1))
      throw invalidLine(number, 'has a `confidence` that is not a number from 0 to 1');
    return { ...names, confidence, correct };
  }
  const question = value['question'];
  const answer = toText(value['answer'] ?? value['generated_answer']);
  const samples = value['samples'] ?? value['self_evaluations'];
  if (typeof question !== 'string' || answer === undefined || !isTexts(samples))
    throw invalidLine(number, 'has neither a `confidence` nor a `question`, an `answer` and `samples`');
  const { confidence } = measureUncertainty({ question, answer, samples: samples.slice(0, maxSamples) });
  return { ...names, ...(confidence === undefined ? {} : { confidence }), correct };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function parseLabel(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  return /^true$/i.test(value) ? true : /^false$/i.test(value) ? false : undefined;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** A text, or the first of a list of texts. */
const toText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : isTexts(value) ? value[0] : undefined;

const invalidLine = (number: number, problem: string): FairleadError =>
  new FairleadError('checks/invalid-labels', `Line ${number} ${problem}.`, {
    blame: 'user',
    hint: 'A line is {"confidence":0.9,"correct":true}, or {"question":"…","answer":"…","samples":["…"],"correct":true}.',
  });
