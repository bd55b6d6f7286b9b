// The event schema: every event of the log as JSON Schema, for programs in any language that read or write sessions.
import type { Event, Fact, JsonObject } from '../../core/index.ts';
import {
  jsonValueSchema,
  integerSchema,
  structSchema,
  discriminatedUnionSchema,
  arraySchema,
  refSchema,
  numberSchema,
  recordSchema,
  stringSchema,
  enumSchema,
  booleanSchema,
  type FieldSchemas,
  type DataSchema,
} from './data-schema.ts';

const anyValue = jsonValueSchema();
const stringValue: DataSchema = { ...stringSchema(), schema: { type: 'string' } };
const nonNegativeInteger = integerSchema(0);
const openObject = (needed: FieldSchemas, more: FieldSchemas = {}): DataSchema => structSchema(needed, more, true);
const schemaRef = (name: keyof typeof definitions): DataSchema => refSchema(name, () => anyValue);

const spentSchema = openObject(
  {},
  Object.fromEntries(
    'turns calls input output cacheRead cacheWrite usd turnsWithoutPrice ms'
      .split(' ')
      .map((key) => [key, numberSchema(0)]),
  ),
);

const definitions = {
  part: discriminatedUnionSchema('type', {
    text: openObject({ text: stringValue }, { meta: anyValue }),
    reasoning: openObject({ text: stringValue }, { meta: anyValue }),
    file: openObject({ mediaType: stringSchema(), data: stringValue }, { name: stringValue, meta: anyValue }),
    'tool-call': openObject(
      { id: stringSchema(), tool: stringValue, input: anyValue },
      { invalid: stringValue, meta: anyValue },
    ),
    'tool-result': openObject({ id: stringSchema(), tool: stringValue, text: stringValue, failed: booleanSchema() }),
  }),
  message: openObject({
    role: enumSchema(['user', 'assistant', 'tool']),
    parts: arraySchema(refSchema('part', () => anyValue)),
  }),
  note: openObject(
    { key: stringValue, text: stringValue },
    { priority: anyValue, group: stringValue, until: anyValue },
  ),
  error: openObject(
    { code: stringSchema(), message: stringValue, blame: stringValue, retry: booleanSchema() },
    { hint: stringValue },
  ),
  limits: openObject(
    { turns: anyValue, errors: anyValue, maxRetriesPerAnswer: anyValue, stuckAfter: anyValue, outputChars: anyValue },
    { tokens: anyValue, context: anyValue, usd: anyValue, ms: anyValue, calls: anyValue },
  ),
  spent: spentSchema,
  baseline: openObject(
    {
      session: stringValue,
      messages: arraySchema(refSchema('message', () => anyValue)),
      turn: nonNegativeInteger,
      loaded: arraySchema(stringValue),
      queue: arraySchema(refSchema('note', () => anyValue)),
      total: refSchema('spent', () => anyValue),
    },
    {
      nonce: stringValue,
      pending: arraySchema(anyValue),
      calls: arraySchema(anyValue),
      files: arraySchema(anyValue),
      unknownCalls: arraySchema(anyValue),
      views: recordSchema(anyValue),
      activeRun: anyValue,
    },
  ),
} satisfies Record<string, DataSchema>;

const usageSchema = openObject(
  {},
  { input: anyValue, output: anyValue, cacheRead: anyValue, cacheWrite: anyValue, reasoning: anyValue },
);
const origin = openObject(
  { kind: enumSchema(['rule', 'hook', 'policy', 'permission', 'flow', 'dlp', 'user']) },
  { name: stringValue, endsRun: booleanSchema() },
);
const outcomes = ['ok', 'failed', 'denied', 'interrupted', 'unknown'];
const stopReasons =
  'answered task-complete abstained truncated max-turns token-budget money-budget call-budget time error-threshold stuck rule kill-switch cancelled provider-error'.split(
    ' ',
  );

const factSchemas: Readonly<Record<Fact['type'], DataSchema>> = {
  'session-started': openObject({ session: stringValue }, { nonce: stringValue, name: stringValue, from: anyValue }),
  'epoch-started': openObject(
    {
      epoch: nonNegativeInteger,
      reason: enumSchema(['started', 'compacted', 'model-changed', 'agent-changed', 'edited']),
      system: stringValue,
      tools: arraySchema(openObject({ name: stringSchema(), description: stringValue, input: anyValue })),
      model: stringValue,
    },
    {
      modelProvider: stringValue,
      modelHost: stringValue,
      modelName: stringValue,
      cwd: stringValue,
      baseline: schemaRef('baseline'),
      detail: stringValue,
      spent: schemaRef('spent'),
    },
  ),
  'compaction-failed': openObject({ why: stringValue }, { spent: schemaRef('spent') }),
  'branch-started': openObject(
    { from: stringValue, reason: enumSchema(['edited', 'forked', 'rewound', 'returned']) },
    { detail: stringValue },
  ),
  'input-received': openObject(
    {
      input: stringSchema(),
      how: enumSchema(['prompt', 'steer', 'follow-up', 'continue']),
      parts: arraySchema(schemaRef('part')),
    },
    { by: enumSchema(['hook', 'program']) },
  ),
  'run-started': openObject(
    { run: stringSchema(), limits: schemaRef('limits') },
    { choice: anyValue, trace: anyValue, policies: anyValue },
  ),
  'turn-started': openObject({
    turn: nonNegativeInteger,
    inputs: arraySchema(stringValue),
    notes: arraySchema(schemaRef('note')),
  }),
  'turn-ended': openObject(
    {
      turn: nonNegativeInteger,
      message: schemaRef('message'),
      finishReason: enumSchema(['stop', 'tool-calls', 'length', 'refusal', 'filtered', 'other']),
      usage: usageSchema,
      model: stringValue,
      ms: numberSchema(0),
    },
    { usd: numberSchema(0), estimated: booleanSchema() },
  ),
  'turn-failed': openObject(
    { turn: nonNegativeInteger, error: schemaRef('error'), ms: numberSchema(0) },
    { partial: stringValue, usage: usageSchema, usd: numberSchema(0) },
  ),
  'answer-rejected': openObject({
    why: enumSchema(['empty', 'refused', 'filtered', 'invalid', 'no-call']),
    text: stringValue,
  }),
  'approval-requested': openObject(
    { call: stringSchema(), question: stringValue },
    { kind: enumSchema(['unknown-outcome', 'client-tool']), by: origin, preview: anyValue },
  ),
  'approval-resolved': openObject(
    { call: stringSchema(), allowed: booleanSchema() },
    { by: stringValue, happened: booleanSchema() },
  ),
  'tool-started': openObject({ call: stringSchema(), tool: stringValue, key: stringValue }, { input: anyValue }),
  'tool-ended': openObject(
    { call: stringSchema(), outcome: enumSchema(outcomes), text: stringValue, ms: numberSchema(0) },
    {
      data: anyValue,
      labels: anyValue,
      withheld: stringValue,
      notes: arraySchema(schemaRef('note')),
      loadsTools: arraySchema(stringValue),
      endsRun: booleanSchema(),
      spent: schemaRef('spent'),
      overlappedMs: numberSchema(0),
      deniedBy: origin,
    },
  ),
  'check-ended': openObject({
    check: stringValue,
    verdict: openObject(
      { type: enumSchema(['passed', 'failed', 'abstained']) },
      { why: stringValue, text: stringValue, claims: arraySchema(openObject({ text: stringValue, why: stringValue })) },
    ),
  }),
  'run-ended': openObject({ reason: enumSchema(stopReasons) }, { detail: stringValue, error: schemaRef('error') }),
  'annotation-added': openObject(
    { key: stringValue, value: anyValue },
    { spent: schemaRef('spent'), countsForRun: booleanSchema() },
  ),
};

const envelopeProperties: Readonly<Record<Exclude<keyof Event, keyof Fact>, JsonObject>> = {
  seq: { type: 'integer', minimum: 1, description: 'Its position in the file.' },
  id: { type: 'string', description: 'Its name.' },
  parent: { type: ['string', 'null'], description: 'The event it follows; null for the first.' },
  time: { type: 'string', description: 'When it was recorded, ISO 8601.' },
};

/** The version of the event schema. New fields and event types do not change it; a changed meaning of a field does. */
export const EVENT_SCHEMA_VERSION = 1;

/** Returns the JSON Schema of an event: a fact with its position in the log. */
export const eventSchema = (): JsonObject => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Fairlead event',
  version: EVENT_SCHEMA_VERSION,
  type: 'object',
  properties: envelopeProperties,
  required: Object.keys(envelopeProperties),
  ...discriminatedUnionSchema('type', factSchemas).schema,
  $defs: Object.fromEntries(Object.entries(definitions).map(([name, { schema }]) => [name, schema])),
});
