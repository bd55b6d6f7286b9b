// The expectations of an eval case: their types, and how they are read from a dataset.
import { createOutputSchema } from '../agent/index.ts';
import { errorMessage, isJson, isObject, type JsonObject } from '../core/index.ts';

/** A number with a tolerance; without one the number must be equal. */
export type ExpectedNumber = {
  readonly value: number;
  /** The largest difference that counts as equal. */
  readonly tolerance?: number;
  /** The largest difference that counts as equal, as a share of the value: 0.01 is one percent. */
  readonly relative?: number;
};

/** A call that must have been made. `partial`: the call has these arguments and may have others. */
export type ExpectedCall = {
  readonly name: string;
  readonly args: JsonObject;
  readonly mode: 'partial' | 'exact';
};

/** The order of the tools. `in_order`: others may come between them; `exact`: these and no others. */
export type ExpectedSequence = { readonly steps: readonly string[]; readonly mode: 'in_order' | 'exact' };

/** One criterion of a rubric and its weight. */
export type RubricCriterion = { readonly text: string; readonly weight: number };

/** Criteria that a judge model scores from 0 to 1, and the weighted mean that must be reached. */
export type ExpectedRubric = { readonly criteria: readonly RubricCriterion[]; readonly atLeast: number };

/** The texts and the files of the case that must support every claim of the answer. */
export type ExpectedSupport = { readonly evidence: readonly string[]; readonly files: readonly string[] };

/** A command that runs in the directory of the case, inside the sandbox, and must exit with 0. */
export type ExpectedCode = {
  readonly command: string;
  readonly timeoutSeconds: number;
  /** Files that are written before the command runs, over what the agent wrote there; the agent does not see them. */
  readonly files?: Readonly<Record<string, string>>;
};

/** The expectations of an answer and of the way to it; all given ones must hold. */
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
  readonly number?: number | ExpectedNumber;
  /** True if the correct behaviour is to abstain; false if an answer must be given. */
  readonly abstains?: boolean;
  /** Past participles of actions that the answer must not claim as done, because no tool was available. */
  readonly noClaim?: readonly string[];
  /** The JSON Schema of the answer. */
  readonly json?: JsonObject;
  /** Tools that must have run. A denied call did not run. */
  readonly toolUsed?: readonly string[];
  /** Tools that must not have been called. A denied call was called. */
  readonly toolNotUsed?: readonly string[];
  /** Calls that must have run with these arguments. */
  readonly toolArguments?: readonly ExpectedCall[];
  /** The order in which tools must have run. */
  readonly toolSequence?: ExpectedSequence;
  /** The maximum number of tool calls. */
  readonly maxSteps?: number;
  /** A goal that a judge model must find reached, from the calls, their results and the answer. */
  readonly goalReached?: string;
  /** A command that tests the result. */
  readonly code?: ExpectedCode;
  /** A condition on the answer that a judge model must find met. */
  readonly judge?: string;
  /** Weighted criteria that a judge model scores. */
  readonly rubric?: ExpectedRubric;
  /** Evidence that must support every claim of the answer. */
  readonly supported?: ExpectedSupport;
};

/** The expectations that need a judge model. */
export const judgedExpectations: readonly (keyof Expectation)[] = ['judge', 'rubric', 'goalReached'];

/** The maximum number of entries in a list of a case. */
const maxEntries = 200;
/** The time that the command of a case may take if the case does not say. */
const defaultCodeSeconds = 120;
const maxCodeSeconds = 3600;

/** Returns the normalized value, or undefined if it is not valid; or throws why it is not. */
type Reader = (value: unknown) => unknown;

const readString: Reader = (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

const readStrings: Reader = (value) => {
  const list = typeof value === 'string' ? [value] : value;
  const isList = Array.isArray(list) && list.length > 0 && list.length <= maxEntries;
  return isList && list.every((each) => typeof each === 'string') ? list : undefined;
};

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const hasOnly = (value: object, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

const readNumber: Reader = (value) => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (!isObject(value) || !hasOnly(value, ['value', 'tolerance', 'relative'])) return undefined;
  const { value: expected, tolerance = 0, relative = 0 } = value;
  const isValid = typeof expected === 'number' && Number.isFinite(expected);
  return isValid && isAmount(tolerance) && isAmount(relative) ? value : undefined;
};

const readCalls: Reader = (value) => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > maxEntries) return undefined;
  const calls = list.map((each) => {
    if (!isObject(each) || !hasOnly(each, ['name', 'args', 'mode'])) return undefined;
    const { name, args = {}, mode = 'partial' } = each;
    const isValid = typeof name === 'string' && name !== '' && isObject(args) && isJson(args);
    return isValid && (mode === 'partial' || mode === 'exact') ? { name, args, mode } : undefined;
  });
  return calls.includes(undefined) ? undefined : calls;
};

const readSequence: Reader = (value) => {
  const given = Array.isArray(value) ? { steps: value } : value;
  if (!isObject(given) || !hasOnly(given, ['steps', 'mode'])) return undefined;
  const { mode = 'in_order' } = given;
  const steps = readStrings(given['steps']);
  return steps !== undefined && (mode === 'in_order' || mode === 'exact') ? { steps, mode } : undefined;
};

const readRubric: Reader = (value) => {
  const given = isObject(value) ? value : { criteria: value };
  if (!hasOnly(given, ['criteria', 'atLeast'])) return undefined;
  const { atLeast = 1 } = given;
  const list: unknown = typeof given['criteria'] === 'string' ? [given['criteria']] : given['criteria'];
  if (!Array.isArray(list) || list.length === 0 || list.length > 50) return undefined;
  const criteria = list.map((each: unknown) => {
    const { text, weight = 1 } = isObject(each) ? each : { text: each };
    return typeof text === 'string' && text.trim() !== '' && isAmount(weight) && weight > 0
      ? { text, weight }
      : undefined;
  });
  return criteria.includes(undefined) || !isAmount(atLeast) || atLeast > 1 ? undefined : { criteria, atLeast };
};

const readSupport: Reader = (value) => {
  const given = isObject(value) ? value : { evidence: value };
  if (!hasOnly(given, ['evidence', 'files'])) return undefined;
  const evidence = given['evidence'] === undefined ? [] : readStrings(given['evidence']);
  const files = given['files'] === undefined ? [] : readStrings(given['files']);
  if (!Array.isArray(evidence) || !Array.isArray(files)) return undefined;
  return evidence.length + files.length > 0 ? { evidence, files } : undefined;
};

const readCode: Reader = (value) => {
  const given = isObject(value) ? value : { command: value };
  if (!hasOnly(given, ['command', 'timeoutSeconds', 'files'])) return undefined;
  const { timeoutSeconds = defaultCodeSeconds, files } = given;
  const isFiles =
    files === undefined || (isObject(files) && Object.values(files).every((each) => typeof each === 'string'));
  const command = readString(given['command']);
  const isValid = isAmount(timeoutSeconds) && timeoutSeconds > 0 && timeoutSeconds <= maxCodeSeconds;
  if (command === undefined || !isValid || !isFiles) return undefined;
  return { command, timeoutSeconds, ...(files === undefined ? {} : { files }) };
};

const readPattern: Reader = (value) => {
  if (typeof value !== 'string') return undefined;
  new RegExp(value, 'iu').test('');
  return value;
};

const readSchema: Reader = (value) => {
  if (!isObject(value) || !isJson(value)) return undefined;
  createOutputSchema(value);
  return value;
};

const readers: Readonly<Record<keyof Expectation, Reader>> = {
  equals: readStrings,
  contains: readStrings,
  lacks: readStrings,
  noClaim: readStrings,
  matches: readPattern,
  number: readNumber,
  abstains: (value) => (typeof value === 'boolean' ? value : undefined),
  json: readSchema,
  toolUsed: readStrings,
  toolNotUsed: readStrings,
  toolArguments: readCalls,
  toolSequence: readSequence,
  maxSteps: (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined),
  goalReached: readString,
  code: readCode,
  judge: readString,
  rubric: readRubric,
  supported: readSupport,
};

/** Returns true if an expectation has this name. */
export const isExpectationName = (name: string): boolean => Object.hasOwn(readers, name);

/** Reads expectations as a dataset has them; returns what is wrong with them if they are not valid. */
export function parseExpectation(expect: unknown): Expectation | string {
  if (!isObject(expect) || Object.keys(expect).length === 0) return 'it has no expectations';
  const read: Record<string, unknown> = {};
  for (const [kind, value] of Object.entries(expect)) {
    if (!Object.hasOwn(readers, kind))
      return `there is no expectation ${JSON.stringify(kind)}; there are ${Object.keys(readers).join(', ')}`;
    try {
      read[kind] = readers[kind as keyof Expectation](value);
    } catch (error) {
      return `its expectation ${kind} has an invalid value (${errorMessage(error).replace(/\.$/, '')})`;
    }
    if (read[kind] === undefined) return `its expectation ${kind} has an invalid value`;
  }
  return read;
}
