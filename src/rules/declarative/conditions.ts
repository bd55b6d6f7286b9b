// Declarative conditions: tests of facts about the session, combined with all, any and not. Nothing in them is executed as code.
import { isObject, type Event, type Json, type ToolOutcome, type RunState } from '../../core/index.ts';
import { extractPath } from '../session-stats/file-uses.ts';
import {
  callsSince,
  contextUsage,
  mentionedEntities,
  toolFailures,
  fileUsage,
  detectLoop,
  idleMs,
  toolStats,
} from '../session-stats/selectors.ts';
import {
  structSchema,
  arraySchema,
  refSchema,
  numberSchema,
  stringSchema,
  enumSchema,
  type DataSchema,
} from '../schema/data-schema.ts';
import { finalAnswer } from '../stop-conditions/stop-conditions.ts';

/** A fact with a bound on its value. */
export type FactTest = {
  readonly fact: string;
  readonly tool?: string;
  readonly path?: string;
  readonly name?: string;
  readonly field?: string;
  readonly per?: 'turn' | 'run' | 'session';
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly is?: string | number;
  readonly contains?: string;
};

/** A condition over the session. */
export type Condition =
  | FactTest
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition };

/** What a condition is evaluated for: a state, and the current event or call. */
export type ConditionSubject = {
  readonly state: RunState;
  readonly event?: Event;
  readonly call?: { readonly tool: string; readonly input: Json; readonly outcome?: ToolOutcome } | undefined;
};

type ConditionFact = {
  readonly description: string;
  readonly value: (subject: ConditionSubject, test: FactTest) => number | string;
};

const testedTool = ({ call }: ConditionSubject, { tool }: FactTest): string => tool ?? call?.tool ?? '';

const testedCounts = (
  subject: ConditionSubject,
  test: FactTest,
): { readonly calls: number; readonly retries: number } => {
  const use = toolStats(subject.state, testedTool(subject, test));
  const { per = 'session' } = test;
  return per === 'session' ? { calls: use.calls, retries: use.run.retries } : use[per];
};

const testedFile = ({ event, call }: ConditionSubject, { path }: FactTest): string =>
  path ?? (event?.type === 'tool-ended' ? extractPath(event.data) : undefined) ?? extractPath(call?.input) ?? '';

const testedArgument = ({ call }: ConditionSubject, { field = '' }: FactTest): string => {
  const value = isObject(call?.input) && Object.hasOwn(call.input, field) ? call.input[field] : undefined;
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
};

/** All facts a condition can test, by name. Without `tool` or `path`, the current call is used. */
export const conditionFacts: Readonly<Record<string, ConditionFact>> = {
  failures: {
    description: 'consecutive failures of a tool',
    value: (s, t) => toolFailures(s.state, testedTool(s, t)).inARow,
  },
  totalFailures: {
    description: 'failures of a tool in the session',
    value: (s, t) => toolFailures(s.state, testedTool(s, t)).total,
  },
  anyFailures: { description: 'consecutive failures of any tool', value: ({ state }) => toolFailures(state).inARow },
  calls: { description: 'calls of a tool, per turn, run or session', value: (s, t) => testedCounts(s, t).calls },
  retries: { description: 'retries of a tool, per turn or run', value: (s, t) => testedCounts(s, t).retries },
  callsSince: {
    description: 'calls since a tool was last called',
    value: (s, t) => callsSince(s.state, [testedTool(s, t)]),
  },
  contextTokens: { description: 'tokens of context', value: ({ state }) => state.context },
  contextPercent: {
    description: 'used percent of the context window',
    value: ({ state }) => Math.round(contextUsage(state).share * 100),
  },
  loops: {
    description: 'times the latest calls were repeated as a loop',
    value: ({ state }) => detectLoop(state)?.times ?? 0,
  },
  reads: { description: 'reads of a file', value: (s, t) => fileUsage(s.state, testedFile(s, t)).reads },
  edits: { description: 'edits of a file', value: (s, t) => fileUsage(s.state, testedFile(s, t)).edits },
  writes: {
    description: 'times a file was written completely',
    value: (s, t) => fileUsage(s.state, testedFile(s, t)).writes,
  },
  mentions: {
    description: 'times an entity was mentioned',
    value: ({ state }, { name }) => mentionedEntities(state).find((each) => each.name === name)?.count ?? 0,
  },
  turns: { description: 'turns of the run', value: ({ state }) => state.spent.turns },
  tokens: { description: 'tokens of the run', value: ({ state }) => state.spent.input + state.spent.output },
  usd: { description: 'US dollars of the run', value: ({ state }) => state.spent.usd },
  minutes: { description: 'minutes of work', value: ({ state }) => state.spent.ms / 60_000 },
  pauseMinutes: { description: 'idle minutes before the event', value: ({ state }) => idleMs(state) / 60_000 },
  answer: { description: 'the final answer', value: ({ state }) => finalAnswer(state) ?? '' },
  result: {
    description: 'the text of the result of the ended call',
    value: ({ event }) => (event?.type === 'tool-ended' ? event.text : ''),
  },
  outcome: { description: 'the outcome of the call', value: ({ call }) => call?.outcome ?? '' },
  tool: { description: 'the tool of the call', value: ({ call }) => call?.tool ?? '' },
  argument: { description: 'an argument of the call, by its field', value: testedArgument },
  path: { description: 'the file of the call', value: testedFile },
  model: { description: 'the model', value: ({ state }) => state.model },
};

/** Evaluates a condition. */
export function evaluateCondition(condition: Condition, subject: ConditionSubject): boolean {
  if ('all' in condition) return condition.all.every((each) => evaluateCondition(each, subject));
  if ('any' in condition) return condition.any.some((each) => evaluateCondition(each, subject));
  if ('not' in condition) return !evaluateCondition(condition.not, subject);
  const value = conditionFacts[condition.fact]?.value(subject, condition) ?? '';
  const { atLeast, atMost, is, contains } = condition;
  return (
    (atLeast === undefined || Number(value) >= atLeast) &&
    (atMost === undefined || Number(value) <= atMost) &&
    (is === undefined || value === is) &&
    (contains === undefined || String(value).includes(contains))
  );
}

/** Replaces `{name}` in a message by the value of that fact. Unknown names stay unchanged. */
export const fillTemplate = (message: string, subject: ConditionSubject): string =>
  message.replaceAll(/\{(\w+)\}/g, (all, name: string) =>
    Object.hasOwn(conditionFacts, name) ? String(conditionFacts[name]?.value(subject, { fact: name }) ?? all) : all,
  );

const factTestSchema = structSchema(
  { fact: enumSchema(Object.keys(conditionFacts), 'The fact to test.') },
  {
    tool: stringSchema('The tool to test; default: that of the call.'),
    path: stringSchema('The file to test; default: that of the call.'),
    name: stringSchema('The entity to test.'),
    field: stringSchema('The argument to test.'),
    per: enumSchema(['turn', 'run', 'session']),
    atLeast: numberSchema(0),
    atMost: numberSchema(0),
    is: { schema: { type: ['string', 'number'] }, validate: () => [] },
    contains: stringSchema(),
  },
);

const conditionRef: DataSchema = refSchema('condition', () => conditionSchema);

/** The schema of a condition. A test without a bound would always be true, so it is an error. */
export const conditionSchema: DataSchema = {
  schema: {
    anyOf: [
      factTestSchema.schema,
      structSchema({ all: arraySchema(conditionRef, 1) }).schema,
      structSchema({ any: arraySchema(conditionRef, 1) }).schema,
      structSchema({ not: conditionRef }).schema,
    ],
  },
  validate: (value, at) => {
    if (!isObject(value)) return [`${at} must be an object.`];
    if ('all' in value) return structSchema({ all: arraySchema(conditionRef, 1) }).validate(value, at);
    if ('any' in value) return structSchema({ any: arraySchema(conditionRef, 1) }).validate(value, at);
    if ('not' in value) return structSchema({ not: conditionRef }).validate(value, at);
    if (!('fact' in value)) return [`${at} must have fact, or one of any and all, or not.`];
    const bounds = ['atLeast', 'atMost', 'is', 'contains'];
    const bare = bounds.some((bound) => bound in value) ? [] : [`${at} needs one of ${bounds.join(', ')}.`];
    return [...factTestSchema.validate(value, at), ...bare];
  },
};
