// Eval cases and datasets of JSON lines: one object per line with a prompt and what is expected.
import path from 'node:path';
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
  /** The recorded session that the case continues; the prompt is then that of the recording, and is not sent again. */
  readonly session?: RecordedStart;
};

/** The point of a recording at which a case starts. */
export type RecordedStart = {
  /** The file of the session log; in a dataset, relative to the file of the dataset. */
  readonly file: string;
  /** The turn that is run again: everything before it is recorded. */
  readonly at: number;
  /** Whether the model and the tools answer live from there, or as recorded. */
  readonly mode: 'live' | 'recorded';
};

/** The ending of recordings that cases continue; in a folder such a file is no dataset. */
export const recordingEnding = '.session.jsonl';
/** The maximum number of characters of a dataset. */
export const maxDatasetChars = 100_000_000;
/** The maximum number of cases of a dataset. */
export const maxCases = 100_000;
/** The maximum number of characters of the id of a case. */
const maxIdChars = 200;

/** Collects the cases of a dataset; refuses an invalid case with the number of its line. */
export type CaseCollector = {
  /** Adds a case, or throws what is wrong with it. */
  add(line: number, read: EvalCase | string): void;
  /** Throws what is wrong with a line. */
  refuse(line: number, why: string): never;
  /** Returns the cases; throws if there are none. */
  end(): readonly EvalCase[];
};

/** Creates the collector of a dataset with this name. */
export function createCaseCollector(name: string, size: number, hint: string): CaseCollector {
  if (size > maxDatasetChars)
    throw new FairleadError('eval/bad-dataset', `${name} has more than ${maxDatasetChars} characters.`, {
      blame: 'user',
    });
  const cases = new Map<string, EvalCase>();
  const refuse = (line: number, why: string): never => {
    throw new FairleadError('eval/bad-dataset', `Line ${line} of ${name} is not a valid case: ${why}.`, {
      blame: 'user',
      hint,
    });
  };
  return {
    refuse,
    add(line, read) {
      if (typeof read === 'string') return refuse(line, read);
      if (cases.has(read.id)) return refuse(line, `there is another with the id ${read.id}`);
      if (cases.size >= maxCases) return refuse(line, `there are more than ${maxCases} cases`);
      cases.set(read.id, read);
    },
    end() {
      if (cases.size > 0) return [...cases.values()];
      throw new FairleadError('eval/bad-dataset', `${name} has no case.`, { blame: 'user', hint });
    },
  };
}

const hint = 'A line is {"id":"sum","prompt":"What is 2 + 2?","expect":{"number":4},"tags":["arithmetic"]}.';

/** Parses the cases of JSON lines; throws an error that names the invalid line. */
export function parseDataset(text: string, name: string): readonly EvalCase[] {
  const cases = createCaseCollector(name, text.length, hint);
  for (const [i, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries())
    if (line.trim() !== '') cases.add(i + 1, parseCaseLine(line));
  return cases.end();
}

/** Parses one line; returns the case or what is wrong with it. */
function parseCaseLine(line: string): EvalCase | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `it is not JSON (${errorMessage(error)})`;
  }
  return parseCaseObject(value);
}

/** Reads a case from an object; returns the case or what is wrong with it. */
export function parseCaseObject(value: unknown): EvalCase | string {
  if (!isObject(value)) return 'it is not an object';
  // `words` is the name of the prompt in version 0.1.
  const { id, words, prompt = words, expect, tags = [], tools = false, files = {}, must, session, ...more } = value;
  if (typeof id !== 'string' || id.trim() === '') return 'it has no id';
  if (id.length > maxIdChars) return `its id is longer than ${maxIdChars} characters`;
  if (typeof prompt !== 'string' || prompt.trim() === '') return 'it has no prompt';
  if (!isStringList(tags)) return 'its tags are not a list of strings';
  if (typeof tools !== 'boolean') return 'tools is neither true nor false';
  if (!isObject(files) || !isStringList(Object.values(files))) return 'its files are not strings';
  const outside = Object.keys(files).find(isOutside);
  if (outside !== undefined) return `its file ${JSON.stringify(outside)} is outside its directory`;
  if (must !== undefined && typeof must !== 'boolean') return 'must is neither true nor false';
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return `there is no field ${JSON.stringify(unknown)}`;
  const expected = parseExpectation(expect);
  if (typeof expected === 'string') return expected;
  const start = session === undefined ? undefined : parseStart(session);
  if (typeof start === 'string') return start;
  const own = { id, prompt, expect: expected, tags, tools, files: files as EvalCase['files'] };
  return { ...own, ...(must === undefined ? {} : { must }), ...(start ? { session: start } : {}) };
}

/** Whether a path is not that of a file below the directory of a case. */
const isOutside = (name: string): boolean =>
  path.isAbsolute(name) || ['.', '..'].includes(path.normalize(name).split(/[\\/]/)[0] ?? '.');

function parseStart(session: unknown): RecordedStart | string {
  const { file, at, mode = 'live', ...more } = isObject(session) ? session : {};
  if (typeof file !== 'string' || file === '') return 'its session has no file';
  if (!Number.isSafeInteger(at) || Number(at) < 1) return 'its session has no turn: at is a number of at least 1';
  if (mode !== 'live' && mode !== 'recorded') return 'mode of its session is neither live nor recorded';
  const [unknown] = Object.keys(more);
  return unknown === undefined ? { file, at: Number(at), mode } : `its session has no field ${JSON.stringify(unknown)}`;
}

const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
