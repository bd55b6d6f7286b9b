// Parses eval datasets: one JSON object per line with a prompt and the expected answer.
import { FairleadError, isJson, isObject, errorMessage, type JsonObject } from '../core/index.ts';

/** The expectations of an answer; all given ones must hold. */
export type Expectation = {
  /** The whole answer equals one of these, ignoring case and surrounding punctuation. */
  readonly equals?: readonly string[];
  /** The answer contains each of these, ignoring case. */
  readonly contains?: readonly string[];
  /** The answer contains none of these, ignoring case. */
  readonly lacks?: readonly string[];
  /** A regular expression that the answer matches, ignoring case. */
  readonly matches?: string;
  /** The last number in the answer. */
  readonly number?: number;
  /** True if the correct behaviour is to abstain; false if an answer must be given. */
  readonly abstains?: boolean;
  /** Past participles of actions that the answer must not claim as done, because no tool was available. */
  readonly noClaim?: readonly string[];
  /** The JSON Schema of the answer. */
  readonly json?: JsonObject;
};

/** One eval case: a prompt and its expectations. */
export type EvalCase = {
  readonly id: string;
  readonly prompt: string;
  readonly expect: Expectation;
  readonly tags: readonly string[];
  /** Whether the agent gets the coding tools; default none. */
  readonly tools: boolean;
  /** Files of the working directory, by path. */
  readonly files: Readonly<Record<string, string>>;
};

/** Parses the cases of a file; throws an error that names the invalid line. */
export function parseDataset(text: string, name: string): readonly EvalCase[] {
  const cases: EvalCase[] = [];
  const invalidLineError = (line: number, why: string): FairleadError =>
    new FairleadError('eval/bad-dataset', `Line ${line} of ${name} is not a valid case: ${why}.`, {
      blame: 'user',
      hint: 'A line is {"id":"sum","prompt":"What is 2 + 2?","expect":{"number":4},"tags":["arithmetic"]}.',
    });
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const read = parseEvalCase(line);
    if (typeof read === 'string') throw invalidLineError(i + 1, read);
    if (cases.some(({ id }) => id === read.id))
      throw invalidLineError(i + 1, `there is another with the id ${read.id}`);
    cases.push(read);
  }
  if (cases.length > 0) return cases;
  throw new FairleadError('eval/bad-dataset', `${name} has no case.`, { blame: 'user' });
}

/** Parses one line; returns the case or what is wrong with it. */
function parseEvalCase(line: string): EvalCase | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `it is not JSON (${errorMessage(error)})`;
  }
  if (!isObject(value)) return 'it is not an object';
  // `words` is the name of the prompt in version 0.1.
  const { id, words, prompt = words, expect, tags = [], tools = false, files = {}, ...more } = value;
  if (typeof id !== 'string' || id === '') return 'it has no id';
  if (typeof prompt !== 'string' || prompt === '') return 'it has no prompt';
  if (!isStringList(tags)) return 'its tags are not a list of strings';
  if (typeof tools !== 'boolean') return 'tools is neither true nor false';
  if (!isObject(files) || !isStringList(Object.values(files))) return 'its files are not strings';
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return `there is no field ${JSON.stringify(unknown)}`;
  const expected = parseExpectation(expect);
  if (typeof expected === 'string') return expected;
  return { id, prompt, expect: expected, tags, tools, files: files as EvalCase['files'] };
}

const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isStringOrList = (value: unknown): boolean =>
  typeof value === 'string' || (isStringList(value) && value.length > 0);

const expectationChecks: Readonly<Record<keyof Expectation, (value: unknown) => boolean>> = {
  equals: isStringOrList,
  contains: isStringOrList,
  lacks: isStringOrList,
  noClaim: isStringOrList,
  matches: isPattern,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  abstains: (value) => typeof value === 'boolean',
  json: (value) => isObject(value) && isJson(value),
};

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    return Boolean(new RegExp(value, 'iu'));
  } catch {
    return false;
  }
}

function parseExpectation(expect: unknown): Expectation | string {
  if (!isObject(expect) || Object.keys(expect).length === 0) return 'it has no expectations';
  const read: Record<string, unknown> = {};
  for (const [kind, value] of Object.entries(expect)) {
    if (!Object.hasOwn(expectationChecks, kind))
      return `there is no expectation ${JSON.stringify(kind)}; there are ${Object.keys(expectationChecks).join(', ')}`;
    if (!expectationChecks[kind as keyof Expectation](value)) return `its expectation ${kind} has an invalid value`;
    read[kind] =
      expectationChecks[kind as keyof Expectation] === isStringOrList && typeof value === 'string' ? [value] : value;
  }
  return read;
}
