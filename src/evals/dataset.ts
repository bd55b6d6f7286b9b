// Parses eval datasets: one JSON object per line with a prompt and the expected answer.
import { FairleadError, isObject, errorMessage } from '../core/index.ts';
import { parseExpectation, type Expectation } from './expectation.ts';

export type { Expectation } from './expectation.ts';

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
  /** True if every trial must pass, whatever the rate of the others is. */
  readonly must?: boolean;
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
  const { id, words, prompt = words, expect, tags = [], tools = false, files = {}, must, ...more } = value;
  if (typeof id !== 'string' || id === '') return 'it has no id';
  if (typeof prompt !== 'string' || prompt === '') return 'it has no prompt';
  if (!isStringList(tags)) return 'its tags are not a list of strings';
  if (typeof tools !== 'boolean') return 'tools is neither true nor false';
  if (!isObject(files) || !isStringList(Object.values(files))) return 'its files are not strings';
  if (must !== undefined && typeof must !== 'boolean') return 'must is neither true nor false';
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return `there is no field ${JSON.stringify(unknown)}`;
  const expected = parseExpectation(expect);
  if (typeof expected === 'string') return expected;
  const own = { id, prompt, expect: expected, tags, tools, files: files as EvalCase['files'] };
  return must === undefined ? own : { ...own, must };
}

const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
