// A dataset: questions and what their answers must be, one JSON object a line.
import { FairleadError, isJson, isObject, errorMessage, type JsonObject } from '../core/index.ts';

/** What an answer must be; all of what is given must hold. */
export type Expectation = {
  /** The whole answer is one of these, whatever its case and the marks around it. */
  readonly equals?: readonly string[];
  /** Each of these is in the answer, in whatever case. */
  readonly contains?: readonly string[];
  /** None of these is in the answer, in whatever case. */
  readonly lacks?: readonly string[];
  /** A pattern that the answer fits, in whatever case. */
  readonly matches?: string;
  /** The last number in the answer. */
  readonly number?: number;
  /** The right answer is none: to say that it is not known. False where an answer must be given. */
  readonly abstains?: boolean;
  /** Deeds, as past participles, that the answer must not claim as done: nothing was there to do them with. */
  readonly noClaim?: readonly string[];
  /** The JSON Schema that the answer is held to. */
  readonly json?: JsonObject;
};

/** One question, with what its answer must be. */
export type EvalCase = {
  readonly id: string;
  readonly words: string;
  readonly expect: Expectation;
  readonly tags: readonly string[];
  /** Whether it is given the terminal's tools; none unless so. */
  readonly tools: boolean;
  /** Files of the folder it works in, by their paths. */
  readonly files: Readonly<Record<string, string>>;
};

/** The cases of a file, or an error that says which line is wrong and why. */
export function parseDataset(text: string, name: string): readonly EvalCase[] {
  const cases: EvalCase[] = [];
  const wrong = (line: number, why: string): FairleadError =>
    new FairleadError('eval/bad-dataset', `Line ${line} of ${name} is no case: ${why}.`, {
      blame: 'user',
      hint: 'A line is {"id":"sum","words":"What is 2 + 2?","expect":{"number":4},"tags":["arithmetic"]}.',
    });
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const read = parseEvalCase(line);
    if (typeof read === 'string') throw wrong(i + 1, read);
    if (cases.some(({ id }) => id === read.id)) throw wrong(i + 1, `there is another with the id ${read.id}`);
    cases.push(read);
  }
  if (cases.length > 0) return cases;
  throw new FairleadError('eval/bad-dataset', `${name} holds no case.`, { blame: 'user' });
}

/** The case in a line, or what is wrong with it. */
function parseEvalCase(line: string): EvalCase | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `it is not JSON (${errorMessage(error)})`;
  }
  if (!isObject(value)) return 'it is no object';
  const { id, words, expect, tags = [], tools = false, files = {}, ...more } = value;
  if (typeof id !== 'string' || id === '') return 'it has no id';
  if (typeof words !== 'string' || words === '') return 'it has no words';
  if (!isStringList(tags)) return 'its tags are no list of words';
  if (typeof tools !== 'boolean') return 'tools is neither true nor false';
  if (!isObject(files) || !isStringList(Object.values(files))) return 'its files are no texts';
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return `there is no field ${JSON.stringify(unknown)}`;
  const expected = parseExpectation(expect);
  if (typeof expected === 'string') return expected;
  return { id, words, expect: expected, tags, tools, files: files as EvalCase['files'] };
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
  if (!isObject(expect) || Object.keys(expect).length === 0) return 'it expects nothing';
  const read: Record<string, unknown> = {};
  for (const [kind, value] of Object.entries(expect)) {
    if (!Object.hasOwn(expectationChecks, kind))
      return `there is no expectation ${JSON.stringify(kind)}; there are ${Object.keys(expectationChecks).join(', ')}`;
    if (!expectationChecks[kind as keyof Expectation](value)) return `what it expects of ${kind} cannot be used`;
    read[kind] =
      expectationChecks[kind as keyof Expectation] === isStringOrList && typeof value === 'string' ? [value] : value;
  }
  return read;
}
