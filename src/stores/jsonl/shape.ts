// Says what keeps a piece of JSON from being an event: what a person or a bad disk changed is looked at before it is believed.
import { isObject, type Fact } from '../../core/index.ts';

type Test = (value: unknown) => boolean;

const text: Test = (value) => typeof value === 'string';
const number: Test = (value) => typeof value === 'number';
const yesNo: Test = (value) => typeof value === 'boolean';
const oneOf =
  (...words: readonly string[]): Test =>
  (value) =>
    typeof value === 'string' && words.includes(value);
const some: Test = (value) => value !== undefined;
const list =
  (each: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(each);
const shape =
  (fields: Readonly<Record<string, Test>>): Test =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([key, test]) => test(value[key]));
const maybe =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);

const file = shape({ mediaType: text, data: text });
const parts: Readonly<Record<string, Test>> = {
  text: shape({ text }),
  reasoning: shape({ text }),
  file,
  'tool-call': shape({ id: text, tool: text, input: some }),
  'tool-result': shape({ id: text, tool: text, text, failed: yesNo, files: maybe(list(file)) }),
};
const hasNo = (value: unknown, ...types: readonly string[]): boolean =>
  Array.isArray(value) && !value.some((each) => isObject(each) && types.some((type) => type === each['type']));
const part: Test = (value) => {
  const type = isObject(value) ? value['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(parts, type) && parts[type]?.(value) === true;
};
const message = shape({ role: oneOf('user', 'assistant', 'tool'), parts: list(part) });
const answer: Test = (value) =>
  message(value) && isObject(value) && value['role'] === 'assistant' && hasNo(value['parts'], 'tool-result');
const words: Test = (value) => list(part)(value) && hasNo(value, 'tool-call', 'tool-result', 'reasoning');
const note = shape({ key: text, text, priority: maybe(number), group: maybe(text), until: maybe(number) });
const tool = shape({ name: text, description: text, input: isObject });
const error = shape({ code: text, message: text, blame: text, retry: yesNo });
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
  pending: maybe(list(shape({ input: text, how: text, parts: list(part) }))),
  calls: maybe(list(shape({ id: text, tool: text, input: some }))),
  nonce: maybe(text),
  views: maybe(isObject),
  files: maybe(list(shape({ path: text, tool: text, changed: yesNo }))),
  activeRun: maybe(shape({ run: text, limits, spent: isObject, rounds: list(number) })),
});
const origin = shape({ kind: text, name: maybe(text), endsRun: maybe(yesNo) });
const verdict: Test = (value) =>
  isObject(value) &&
  (value['type'] === 'passed' || (oneOf('failed', 'abstained')(value['type']) && text(value['why'])));

const facts: { readonly [type in Fact['type']]: Readonly<Record<string, Test>> } = {
  'session-started': { session: text, nonce: maybe(text) },
  'epoch-started': {
    epoch: number,
    system: text,
    tools: list(tool),
    model: text,
    cwd: maybe(text),
    baseline: maybe(baseline),
    spent: maybe(isObject),
  },
  'compaction-failed': { why: text, spent: maybe(isObject) },
  'branch-started': { from: text, reason: text },
  'input-received': { input: text, how: oneOf('prompt', 'steer', 'follow-up', 'continue'), parts: words },
  'run-started': { run: text, limits },
  'turn-started': { turn: number, inputs: list(text), notes: list(note) },
  'turn-ended': { turn: number, message: answer, finishReason: text, usage: isObject, model: text, ms: number },
  'turn-failed': { turn: number, error, ms: number },
  'answer-rejected': { why: text, text },
  'approval-requested': {
    call: text,
    question: text,
    kind: maybe(oneOf('unknown-outcome', 'client-tool')),
    by: maybe(origin),
  },
  'approval-resolved': { call: text, allowed: yesNo, happened: maybe(yesNo) },
  'tool-started': { call: text, tool: text, key: text },
  'tool-ended': {
    call: text,
    outcome: oneOf('ok', 'failed', 'denied', 'interrupted', 'unknown'),
    text,
    files: maybe(list(file)),
    notes: maybe(list(note)),
    loadsTools: maybe(list(text)),
    deniedBy: maybe(origin),
    ms: number,
  },
  'check-ended': { check: text, verdict },
  'run-ended': { reason: text },
  'annotation-added': { key: text, value: some },
};

/** What is wrong with a value as an event, as the end of a sentence; nothing if it can be one. */
export function flawOf(value: unknown): string | undefined {
  if (!isObject(value)) return value === undefined ? 'is not JSON' : 'is not a JSON object';
  const type = value['type'];
  if (typeof type !== 'string') return 'has no "type"';
  if (!Object.hasOwn(facts, type)) return `has the unknown type "${type}"`;
  const wrong = Object.entries(facts[type as Fact['type']]).find(([key, test]) => !test(value[key]));
  return wrong && `has no legal "${wrong[0]}"`;
}
