// The event schema: every fact of the log as a JSON Schema, for programs in any language that read or write sessions.
import type { Event, Fact, JsonObject } from '../../core/index.ts';
import {
  anything,
  count,
  fields,
  kinds,
  list,
  named,
  number,
  table,
  text,
  word,
  yesNo,
  type Fields,
  type Shape,
} from './shape.ts';

const free = anything();
const words: Shape = { ...text(), schema: { type: 'string' } };
const whole = count(0);
const open = (needed: Fields, more: Fields = {}): Shape => fields(needed, more, true);
const ref = (name: keyof typeof defs): Shape => named(name, () => free);

const spent = open(
  {},
  Object.fromEntries(
    'turns calls input output cacheRead cacheWrite usd turnsWithoutPrice ms'.split(' ').map((key) => [key, number(0)]),
  ),
);

const defs = {
  part: kinds('type', {
    text: open({ text: words }, { meta: free }),
    reasoning: open({ text: words }, { meta: free }),
    file: open({ mediaType: text(), data: words }, { name: words, meta: free }),
    'tool-call': open({ id: text(), tool: words, input: free }, { invalid: words, meta: free }),
    'tool-result': open({ id: text(), tool: words, text: words, failed: yesNo() }),
  }),
  message: open({ role: word(['user', 'assistant', 'tool']), parts: list(named('part', () => free)) }),
  note: open({ key: words, text: words }, { priority: free, group: words, until: free }),
  error: open({ code: text(), message: words, blame: words, retry: yesNo() }, { hint: words }),
  limits: open(
    { turns: free, errors: free, maxRetriesPerAnswer: free, stuckAfter: free, outputChars: free },
    { tokens: free, context: free, usd: free, ms: free, calls: free },
  ),
  spent,
  baseline: open(
    {
      session: words,
      messages: list(named('message', () => free)),
      turn: whole,
      loaded: list(words),
      queue: list(named('note', () => free)),
      total: named('spent', () => free),
    },
    { nonce: words, pending: list(free), calls: list(free), files: list(free), views: table(free), activeRun: free },
  ),
} satisfies Record<string, Shape>;

const usage = open({}, { input: free, output: free, cacheRead: free, cacheWrite: free, reasoning: free });
const origin = open(
  { kind: word(['rule', 'hook', 'policy', 'permission', 'user']) },
  { name: words, endsRun: yesNo() },
);
const outcomes = ['ok', 'failed', 'denied', 'interrupted', 'unknown'];
const reasons =
  'answered task-complete abstained truncated max-turns token-budget money-budget call-budget time error-threshold stuck rule kill-switch cancelled provider-error'.split(
    ' ',
  );

const facts: Readonly<Record<Fact['type'], Shape>> = {
  'session-started': open({ session: words }, { nonce: words, name: words, from: free }),
  'epoch-started': open(
    {
      epoch: whole,
      reason: word(['started', 'compacted', 'model-changed', 'agent-changed', 'edited']),
      system: words,
      tools: list(open({ name: text(), description: words, input: free })),
      model: words,
    },
    { cwd: words, baseline: ref('baseline'), detail: words, spent: ref('spent') },
  ),
  'compaction-failed': open({ why: words }, { spent: ref('spent') }),
  'branch-started': open({ from: words, reason: word(['edited', 'forked', 'rewound', 'returned']) }, { detail: words }),
  'input-received': open({
    input: text(),
    how: word(['prompt', 'steer', 'follow-up', 'continue']),
    parts: list(ref('part')),
  }),
  'run-started': open({ run: text(), limits: ref('limits') }, { choice: free }),
  'turn-started': open({ turn: whole, inputs: list(words), notes: list(ref('note')) }),
  'turn-ended': open(
    {
      turn: whole,
      message: ref('message'),
      finishReason: word(['stop', 'tool-calls', 'length', 'refusal', 'filtered', 'other']),
      usage,
      model: words,
      ms: number(0),
    },
    { usd: number(0), estimated: yesNo() },
  ),
  'turn-failed': open({ turn: whole, error: ref('error'), ms: number(0) }, { partial: words, usage, usd: number(0) }),
  'answer-rejected': open({ why: word(['empty', 'refused', 'filtered', 'invalid', 'no-call']), text: words }),
  'approval-requested': open(
    { call: text(), question: words },
    { kind: word(['unknown-outcome', 'client-tool']), by: origin },
  ),
  'approval-resolved': open({ call: text(), allowed: yesNo() }, { by: words, happened: yesNo() }),
  'tool-started': open({ call: text(), tool: words, key: words }, { input: free }),
  'tool-ended': open(
    { call: text(), outcome: word(outcomes), text: words, ms: number(0) },
    {
      data: free,
      notes: list(ref('note')),
      loadsTools: list(words),
      endsRun: yesNo(),
      spent: ref('spent'),
      overlappedMs: number(0),
      deniedBy: origin,
    },
  ),
  'check-ended': open({
    check: words,
    verdict: open({ type: word(['passed', 'failed', 'abstained']) }, { why: words }),
  }),
  'run-ended': open({ reason: word(reasons) }, { detail: words, error: ref('error') }),
  'annotation-added': open({ key: words, value: free }),
};

const place: Readonly<Record<Exclude<keyof Event, keyof Fact>, JsonObject>> = {
  seq: { type: 'integer', minimum: 1, description: 'Its place in the file.' },
  id: { type: 'string', description: 'Its name.' },
  parent: { type: ['string', 'null'], description: 'The event it follows; null for the first.' },
  time: { type: 'string', description: 'When it was written, ISO 8601.' },
};

/** The version of the event schema. New fields and new facts do not change it; a field that changes its meaning would. */
export const EVENT_SCHEMA = 1;

/** The JSON Schema of an event: a fact with its place in the log. */
export const eventSchema = (): JsonObject => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Fairlead event',
  version: EVENT_SCHEMA,
  type: 'object',
  properties: place,
  required: Object.keys(place),
  ...kinds('type', facts).schema,
  $defs: Object.fromEntries(Object.entries(defs).map(([name, { schema }]) => [name, schema])),
});
