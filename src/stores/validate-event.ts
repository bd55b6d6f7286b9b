// Validates that a JSON value is an event, because files and rows may have been edited or damaged.
import { isApprovalPreview, isObject, type Fact } from '../core/index.ts';

type Validator = (value: unknown) => boolean;

const text: Validator = (value) => typeof value === 'string';
const number: Validator = (value) => typeof value === 'number';
const bool: Validator = (value) => typeof value === 'boolean';
const oneOf =
  (...values: readonly string[]): Validator =>
  (value) =>
    typeof value === 'string' && values.includes(value);
const defined: Validator = (value) => value !== undefined;
const list =
  (each: Validator): Validator =>
  (value) =>
    Array.isArray(value) && value.every(each);
const shape =
  (fields: Readonly<Record<string, Validator>>): Validator =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([key, test]) => test(value[key]));
const optional =
  (test: Validator): Validator =>
  (value) =>
    value === undefined || test(value);

const file = shape({ mediaType: text, data: text });
const parts: Readonly<Record<string, Validator>> = {
  text: shape({ text }),
  reasoning: shape({ text }),
  file,
  'tool-call': shape({ id: text, tool: text, input: defined }),
  'tool-result': shape({
    id: text,
    tool: text,
    text,
    failed: bool,
    nonce: optional(text),
    spotlight: optional(oneOf('datamarks', 'base64')),
    files: optional(list(file)),
  }),
};
const hasNoPartOf = (value: unknown, ...types: readonly string[]): boolean =>
  Array.isArray(value) && !value.some((each) => isObject(each) && types.some((type) => type === each['type']));
const part: Validator = (value) => {
  const type = isObject(value) ? value['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(parts, type) && parts[type]?.(value) === true;
};
const message = shape({ role: oneOf('user', 'assistant', 'tool'), parts: list(part) });
const assistantMessage: Validator = (value) =>
  message(value) && isObject(value) && value['role'] === 'assistant' && hasNoPartOf(value['parts'], 'tool-result');
const inputParts: Validator = (value) =>
  list(part)(value) && hasNoPartOf(value, 'tool-call', 'tool-result', 'reasoning');
const note = shape({ key: text, text, priority: optional(number), group: optional(text), until: optional(number) });
const tool = shape({ name: text, description: text, input: isObject });
const error = shape({ code: text, message: text, blame: text, retry: bool });
const limits = shape({
  turns: number,
  errors: number,
  maxRetriesPerAnswer: number,
  stuckAfter: number,
  outputChars: number,
});
const baseline = shape({
  session: text,
  messages: list(message),
  turn: number,
  loaded: list(text),
  queue: list(note),
  total: isObject,
  pending: optional(list(shape({ input: text, how: text, parts: list(part) }))),
  calls: optional(list(shape({ id: text, tool: text, input: defined }))),
  nonce: optional(text),
  views: optional(isObject),
  files: optional(list(shape({ path: text, tool: text, changed: bool }))),
  unknownCalls: optional(list(shape({ tool: text, input: defined }))),
  activeRun: optional(shape({ run: text, limits, spent: isObject, callBatches: list(number) })),
});
const origin = shape({ kind: text, name: optional(text), endsRun: optional(bool) });
const verdict: Validator = (value) =>
  isObject(value) &&
  optional(list(shape({ text, why: text })))(value['claims']) &&
  optional(text)(value['text']) &&
  (value['type'] === 'passed' || (oneOf('failed', 'abstained')(value['type']) && text(value['why'])));

const factSchemas: { readonly [type in Fact['type']]: Readonly<Record<string, Validator>> } = {
  'session-started': { session: text, nonce: optional(text) },
  'epoch-started': {
    epoch: number,
    system: text,
    tools: list(tool),
    model: text,
    modelProvider: optional(text),
    modelHost: optional(text),
    modelName: optional(text),
    cwd: optional(text),
    baseline: optional(baseline),
    spent: optional(isObject),
  },
  'compaction-failed': { why: text, spent: optional(isObject) },
  'branch-started': { from: text, reason: text },
  'input-received': {
    input: text,
    how: oneOf('prompt', 'steer', 'follow-up', 'continue'),
    parts: inputParts,
    by: optional(text),
  },
  'run-started': { run: text, limits, trace: optional(isObject), policies: optional(isObject) },
  'turn-started': { turn: number, inputs: list(text), notes: list(note) },
  'turn-ended': {
    turn: number,
    message: assistantMessage,
    finishReason: text,
    usage: isObject,
    model: text,
    ms: number,
  },
  'turn-failed': { turn: number, error, ms: number },
  'answer-rejected': { why: text, text },
  'approval-requested': {
    call: text,
    question: text,
    kind: optional(oneOf('unknown-outcome', 'client-tool')),
    by: optional(origin),
    preview: optional(isApprovalPreview),
  },
  'approval-resolved': { call: text, allowed: bool, happened: optional(bool), reason: optional(text) },
  'tool-started': { call: text, tool: text, key: text },
  'tool-ended': {
    call: text,
    outcome: oneOf('ok', 'failed', 'denied', 'interrupted', 'unknown'),
    text,
    spotlight: optional(oneOf('datamarks', 'base64')),
    labels: optional(isObject),
    withheld: optional(text),
    files: optional(list(file)),
    notes: optional(list(note)),
    loadsTools: optional(list(text)),
    deniedBy: optional(origin),
    ms: number,
  },
  'check-ended': { check: text, verdict, ms: optional(number) },
  'run-ended': { reason: text },
  'annotation-added': { key: text, value: defined, spent: optional(isObject), countsForRun: optional(bool) },
};

/** Why a value is not an event, as the end of a sentence; undefined if it is one. */
export function eventShapeError(value: unknown): string | undefined {
  if (!isObject(value)) return value === undefined ? 'is not JSON' : 'is not a JSON object';
  const type = value['type'];
  if (typeof type !== 'string') return 'has no "type"';
  if (!Object.hasOwn(factSchemas, type)) return `has the unknown type "${type}"`;
  const invalid = Object.entries(factSchemas[type as Fact['type']]).find(([key, test]) => !test(value[key]));
  return invalid && `has no valid "${invalid[0]}"`;
}
