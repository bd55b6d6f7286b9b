// What happened in a session so far, as one view: bounded, O(1) per event, the same from the root and from an epoch.
import { hash53, isObject, messageText, type Event, type Json, type NamedView } from '../../core/index.ts';
import { contextParts, noContext, type ContextParts } from './context-parts.ts';
import { namedIn, type Entity } from './entities.ts';
import { untouched, usedAgain, useOf, type FileUse } from './file-uses.ts';
import { openCalls, type EndedCall, type OpenCall } from './open-calls.ts';
import { alike, emptyShelf, keepShelf, onShelf, restoreShelf, shelve, type Shelf } from './shelf.ts';
import { markEnd, markStart, noCalls, resultHash, tryKey, untried, type ToolMark, type Try } from './tool-marks.ts';

/** What one model was used for. */
export type ModelMark = {
  readonly turns: number;
  readonly failed: number;
  readonly input: number;
  readonly output: number;
  readonly usd: number;
  readonly unpriced: number;
  readonly ms: number;
};

/** A settled call as one number, and its tool: what cycles are found in. */
export type HistoryStep = { readonly tool: string; readonly is: number };

/** Counts that go on from epoch to epoch. */
type Counts = {
  readonly runs: number;
  /** A turn of the user begins when a prompt or a follow-up reaches the model; what steers does not begin one. */
  readonly userTurns: number;
  readonly turn: number;
  /** Calls that began to act. */
  readonly made: number;
  readonly inARow: number;
  /** When the last event was written, in milliseconds since 1970; 0 where nobody knows. */
  readonly time: number;
};

/** What is remembered of a session. Read it through the questions, not by its fields. */
export type History = Counts & {
  readonly model: string;
  /** Milliseconds between the last event and the one before it. */
  readonly pause: number;
  readonly waiting: readonly string[];
  readonly calls: readonly OpenCall[];
  /** The call that the last event settled, if it settled one. */
  readonly ended: EndedCall | undefined;
  readonly tools: Shelf<ToolMark>;
  readonly tries: Shelf<Try>;
  readonly files: Shelf<FileUse>;
  readonly entities: Shelf<Entity>;
  readonly models: Shelf<ModelMark>;
  readonly steps: readonly HistoryStep[];
  readonly context: ContextParts;
};

const counts: Counts = { runs: 0, userTurns: 0, turn: 0, made: 0, inARow: 0, time: 0 };

const initial: History = {
  ...counts,
  model: '',
  pause: 0,
  waiting: [],
  calls: [],
  ended: undefined,
  tools: emptyShelf(),
  tries: emptyShelf(),
  files: emptyShelf(),
  entities: emptyShelf(),
  models: emptyShelf(),
  steps: [],
  context: noContext,
};

/** As many settled calls as cycles are looked for in. */
const mostSteps = 24;

/** What rules, gates, stops, hooks and screens ask about. An agent that has any of ours has it among its views. */
export const history: NamedView<History> = {
  name: 'history',
  initial,
  on(state, event) {
    // One copy an event, however much of it the event changes.
    const next: Draft = { ...state };
    follow(next, event);
    next.time = Date.parse(event.time) || state.time;
    next.pause = state.time ? Math.max(0, next.time - state.time) : 0;
    return next;
  },
  serialize: ({ runs, userTurns, turn, made, inARow, time, steps, ...rest }) => ({
    counts: { runs, userTurns, turn, made, inARow, time },
    steps,
    tools: keepShelf(rest.tools),
    tries: keepShelf(rest.tries),
    files: keepShelf(rest.files),
    entities: keepShelf(rest.entities),
    models: keepShelf(rest.models),
  }),
  restore,
};

/** A copy that nobody has seen yet. */
type Draft = { -readonly [key in keyof History]: History[key] };

function follow(draft: Draft, event: Event): void {
  const { calls } = draft;
  const call = event.type === 'tool-ended' ? calls.find(({ id }) => id === event.call) : undefined;
  draft.ended = undefined;
  draft.context = contextParts(draft.context, event, call?.tool);
  if (event.type === 'epoch-started') beginEpoch(draft, event);
  else if (event.type === 'input-received') receive(draft, event);
  else if (event.type === 'run-started') {
    draft.runs++;
    draft.inARow = 0;
  } else if (event.type === 'turn-started') beginTurn(draft, event);
  else if (event.type === 'turn-ended' || event.type === 'turn-failed') endTurn(draft, event);
  else if (event.type === 'tool-started') startCall(draft, event);
  else if (event.type === 'branch-started') draft.waiting = [];
  else if (event.type === 'tool-ended' && call) endCall(draft, call, event);
  draft.calls = openCalls(calls, event);
}

function beginTurn(draft: Draft, { turn, inputs }: Event & { readonly type: 'turn-started' }): void {
  draft.turn = turn;
  if (!inputs.some((input) => draft.waiting.includes(input))) return;
  draft.waiting = draft.waiting.filter((input) => !inputs.includes(input));
  draft.userTurns++;
}

/** What an epoch says of itself is taken from it, also by a fold that saw what came before: both must come to the same. */
function beginEpoch(draft: Draft, { model, baseline }: Event & { readonly type: 'epoch-started' }): void {
  draft.model = model;
  if (!baseline) return;
  const asked = (baseline.pending ?? []).filter(({ how }) => how !== 'steer');
  draft.turn = baseline.turn;
  draft.waiting = asked.map(({ input }) => input);
}

function receive(draft: Draft, event: Event & { readonly type: 'input-received' }): void {
  name(draft, messageText({ role: 'user', parts: event.parts }), 'user');
  if (event.how === 'prompt' || event.how === 'follow-up') draft.waiting = [...draft.waiting, event.input];
}

function name(draft: Draft, words: string, by: Entity['by']): void {
  if (words === '') return;
  for (const { kind, name } of namedIn(words)) {
    const known = onShelf(draft.entities, name) ?? { kind, count: 0, by, turn: 0 };
    draft.entities = shelve(draft.entities, name, { ...known, count: known.count + 1, turn: draft.turn });
  }
}

const unused: ModelMark = { turns: 0, failed: 0, input: 0, output: 0, usd: 0, unpriced: 0, ms: 0 };

function endTurn(draft: Draft, event: Event & { readonly type: 'turn-ended' | 'turn-failed' }): void {
  const ended = event.type === 'turn-ended';
  const model = ended ? event.model : draft.model;
  const mark = onShelf(draft.models, model) ?? unused;
  draft.models = shelve(draft.models, model, {
    turns: mark.turns + 1,
    failed: mark.failed + (ended ? 0 : 1),
    input: mark.input + (event.usage?.input ?? 0),
    output: mark.output + (event.usage?.output ?? 0),
    usd: mark.usd + (event.usd ?? 0),
    unpriced: mark.unpriced + (event.usage && event.usd === undefined ? 1 : 0),
    ms: mark.ms + event.ms,
  });
  if (ended) name(draft, messageText(event.message), 'model');
}

/** A call that is started again after a crash is still the one call. */
function startCall(draft: Draft, { call: id, tool, input }: Event & { readonly type: 'tool-started' }): void {
  const call = draft.calls.find((each) => each.id === id);
  if (!call || call.started) return;
  draft.tools = markStart(draft, { ...call, tool, input: input ?? call.input }, draft);
  draft.made++;
}

function endCall(draft: Draft, call: OpenCall, event: Event & { readonly type: 'tool-ended' }): void {
  const use = useOf(call, event);
  const failed = event.outcome === 'failed' || event.outcome === 'unknown';
  const told = { key: tryKey(call.tool, call.input), result: resultHash(event) };
  const step: HistoryStep = { tool: call.tool, is: hash53(`${told.key} ${told.result}`) };
  const { tools, tries } = markEnd(draft, call, event, { place: draft, ...told });
  draft.tools = tools;
  draft.tries = tries;
  draft.ended = { ...call, outcome: event.outcome };
  draft.inARow = event.outcome === 'ok' ? 0 : draft.inARow + (failed ? 1 : 0);
  if (use) {
    const known = onShelf(draft.files, use.path) ?? untouched;
    draft.files = shelve(draft.files, use.path, usedAgain(known, use.how, draft.turn));
  }
  draft.steps = [...draft.steps.slice(1 - mostSteps), step];
}

const someEntity: Entity = { kind: 'path', count: 0, by: 'user', turn: 0 };

function restore(kept: Json): History | undefined {
  if (!isObject(kept) || !alike(kept['counts'], counts)) return undefined;
  const steps = Array.isArray(kept['steps']) ? (kept['steps'] as readonly unknown[]) : [];
  const shelves = {
    tools: restoreShelf(kept['tools'], noCalls),
    tries: restoreShelf(kept['tries'], untried),
    files: restoreShelf(kept['files'], untouched),
    entities: restoreShelf(kept['entities'], someEntity),
    models: restoreShelf(kept['models'], unused),
  };
  if (steps.length > mostSteps || !steps.every((step) => alike(step, { tool: '', is: 0 }))) return undefined;
  if (Object.values(shelves).some((shelf) => shelf === undefined)) return undefined;
  return {
    ...initial,
    ...(kept['counts'] as Counts),
    ...(shelves as Pick<History, keyof typeof shelves>),
    steps: steps as readonly HistoryStep[],
  };
}
