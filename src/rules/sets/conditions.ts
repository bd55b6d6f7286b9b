// Conditions as data: questions about the history with a bound, joined by all, any and not. Nothing in them is ever run as code.
import { isObject, type Event, type Json, type ToolOutcome, type RunState } from '../../core/index.ts';
import { pathIn } from '../history/file-uses.ts';
import { callsSince, contextUse, entities, failures, fileUse, loop, pause, toolUse } from '../history/questions.ts';
import { fields, list, named, number, text, word, type Shape } from '../schema/shape.ts';
import { answerOf } from '../stops/stops.ts';

/** A question with a bound on its answer. */
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

/** A condition over the history. */
export type Condition =
  | FactTest
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition };

/** What a condition is about: a state, and the event or the call that is looked at. */
export type Subject = {
  readonly state: RunState;
  readonly event?: Event;
  readonly call?: { readonly tool: string; readonly input: Json; readonly outcome?: ToolOutcome } | undefined;
};

type Question = { readonly about: string; readonly value: (subject: Subject, test: FactTest) => number | string };

const toolOf = ({ call }: Subject, { tool }: FactTest): string => tool ?? call?.tool ?? '';

const uses = (subject: Subject, test: FactTest): { readonly calls: number; readonly retries: number } => {
  const use = toolUse(subject.state, toolOf(subject, test));
  const { per = 'session' } = test;
  return per === 'session' ? { calls: use.calls, retries: use.run.retries } : use[per];
};

const fileOf = ({ event, call }: Subject, { path }: FactTest): string =>
  path ?? (event?.type === 'tool-ended' ? pathIn(event.data) : undefined) ?? pathIn(call?.input) ?? '';

const argumentOf = ({ call }: Subject, { field = '' }: FactTest): string => {
  const value = isObject(call?.input) && Object.hasOwn(call.input, field) ? call.input[field] : undefined;
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
};

/** Everything a condition can ask, by name. Without a tool or a path, the call that is looked at is meant. */
export const questions: Readonly<Record<string, Question>> = {
  failures: { about: 'failures in a row of a tool', value: (s, t) => failures(s.state, toolOf(s, t)).inARow },
  totalFailures: { about: 'failures of a tool in the session', value: (s, t) => failures(s.state, toolOf(s, t)).total },
  anyFailures: { about: 'failures in a row of whatever tool', value: ({ state }) => failures(state).inARow },
  calls: { about: 'calls of a tool, per turn, run or session', value: (s, t) => uses(s, t).calls },
  retries: { about: 'retries of a tool, per turn or run', value: (s, t) => uses(s, t).retries },
  callsSince: { about: 'calls since a tool was last called', value: (s, t) => callsSince(s.state, [toolOf(s, t)]) },
  contextTokens: { about: 'tokens of context', value: ({ state }) => state.context },
  contextPercent: {
    about: 'percent of the window in use',
    value: ({ state }) => Math.round(contextUse(state).share * 100),
  },
  loops: { about: 'times the latest calls came round', value: ({ state }) => loop(state)?.times ?? 0 },
  reads: { about: 'reads of a file', value: (s, t) => fileUse(s.state, fileOf(s, t)).reads },
  edits: { about: 'edits of a file', value: (s, t) => fileUse(s.state, fileOf(s, t)).edits },
  writes: { about: 'times a file was written as a whole', value: (s, t) => fileUse(s.state, fileOf(s, t)).writes },
  mentions: {
    about: 'times something was named',
    value: ({ state }, { name }) => entities(state).find((each) => each.name === name)?.count ?? 0,
  },
  turns: { about: 'turns of the run', value: ({ state }) => state.spent.turns },
  tokens: { about: 'tokens of the run', value: ({ state }) => state.spent.input + state.spent.output },
  usd: { about: 'dollars of the run', value: ({ state }) => state.spent.usd },
  minutes: { about: 'minutes at work', value: ({ state }) => state.spent.ms / 60_000 },
  pauseMinutes: { about: 'minutes before the event', value: ({ state }) => pause(state) / 60_000 },
  answer: { about: 'the answer, once it is there', value: ({ state }) => answerOf(state) ?? '' },
  result: {
    about: 'what the settled call said',
    value: ({ event }) => (event?.type === 'tool-ended' ? event.text : ''),
  },
  outcome: { about: 'how the call came out', value: ({ call }) => call?.outcome ?? '' },
  tool: { about: 'the tool of the call', value: ({ call }) => call?.tool ?? '' },
  argument: { about: 'an argument of the call, by its field', value: argumentOf },
  path: { about: 'the file of the call', value: fileOf },
  model: { about: 'the model', value: ({ state }) => state.model },
};

/** Whether a condition holds. */
export function holds(condition: Condition, subject: Subject): boolean {
  if ('all' in condition) return condition.all.every((each) => holds(each, subject));
  if ('any' in condition) return condition.any.some((each) => holds(each, subject));
  if ('not' in condition) return !holds(condition.not, subject);
  const value = questions[condition.fact]?.value(subject, condition) ?? '';
  const { atLeast, atMost, is, contains } = condition;
  return (
    (atLeast === undefined || Number(value) >= atLeast) &&
    (atMost === undefined || Number(value) <= atMost) &&
    (is === undefined || value === is) &&
    (contains === undefined || String(value).includes(contains))
  );
}

/** A message with `{name}` replaced by the answer to that question; what names none stays as it is. */
export const filled = (message: string, subject: Subject): string =>
  message.replaceAll(/\{(\w+)\}/g, (all, name: string) =>
    Object.hasOwn(questions, name) ? String(questions[name]?.value(subject, { fact: name }) ?? all) : all,
  );

const test = fields(
  { fact: word(Object.keys(questions), 'What is asked of the history.') },
  {
    tool: text('The tool that is meant; otherwise that of the call.'),
    path: text('The file that is meant; otherwise that of the call.'),
    name: text('What was named.'),
    field: text('The argument that is meant.'),
    per: word(['turn', 'run', 'session']),
    atLeast: number(0),
    atMost: number(0),
    is: { schema: { type: ['string', 'number'] }, faults: () => [] },
    contains: text(),
  },
);

const inner: Shape = named('condition', () => conditionShape);

/** The shape of a condition. A test without a bound would always hold, so it is a mistake. */
export const conditionShape: Shape = {
  schema: {
    anyOf: [
      test.schema,
      fields({ all: list(inner, 1) }).schema,
      fields({ any: list(inner, 1) }).schema,
      fields({ not: inner }).schema,
    ],
  },
  faults: (value, at) => {
    if (!isObject(value)) return [`${at} must be an object.`];
    if ('all' in value) return fields({ all: list(inner, 1) }).faults(value, at);
    if ('any' in value) return fields({ any: list(inner, 1) }).faults(value, at);
    if ('not' in value) return fields({ not: inner }).faults(value, at);
    if (!('fact' in value)) return [`${at} must have fact, or one of any and all, or not.`];
    const bounds = ['atLeast', 'atMost', 'is', 'contains'];
    const bare = bounds.some((bound) => bound in value) ? [] : [`${at} needs one of ${bounds.join(', ')}.`];
    return [...test.faults(value, at), ...bare];
  },
};
