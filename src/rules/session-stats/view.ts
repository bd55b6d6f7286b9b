// The session statistics as one view: bounded, O(1) per event, and the same whether folded from the start or from an epoch.
import { hash53, isObject, messageText, type Event, type Json, type NamedView } from '../../core/index.ts';
import { updateContextParts, emptyContextParts, type ContextParts } from './context-parts.ts';
import { extractEntities, type Entity } from './entities.ts';
import { unusedFile, addFileUse, detectFileAccess, type FileUse } from './file-uses.ts';
import { updateOpenCalls, type EndedCall, type OpenCall } from './open-calls.ts';
import { hasSameShape, emptyLru, serializeLru, lruGet, restoreLru, lruSet, type LruMap } from './lru-map.ts';
import {
  recordCallEnd,
  recordCallStart,
  emptyToolStats,
  resultHash,
  attemptKey,
  noAttempts,
  type ToolStats,
  type CallAttempts,
} from './tool-stats.ts';

/** Usage of one model. */
export type ModelStats = {
  readonly turns: number;
  readonly failed: number;
  readonly input: number;
  readonly output: number;
  readonly usd: number;
  readonly unpriced: number;
  readonly ms: number;
};

/** The digest of an ended call, and its tool. Loops are detected in these. */
export type CallDigest = { readonly tool: string; readonly is: number };

/** Counts that continue across epochs. */
type SessionCounts = {
  readonly runs: number;
  /** A user turn starts when a prompt or a follow-up reaches the model. Steering does not start one. */
  readonly userTurns: number;
  readonly turn: number;
  /** Calls that started. */
  readonly made: number;
  readonly inARow: number;
  /** The time of the last event in milliseconds since 1970; 0 if unknown. */
  readonly time: number;
};

/** The statistics of a session. Read them through the selectors, not by field. */
export type SessionStats = SessionCounts & {
  readonly model: string;
  /** Milliseconds between the last two events. */
  readonly pause: number;
  readonly waiting: readonly string[];
  readonly calls: readonly OpenCall[];
  /** The call that the last event ended, if any. */
  readonly ended: EndedCall | undefined;
  readonly tools: LruMap<ToolStats>;
  readonly tries: LruMap<CallAttempts>;
  readonly files: LruMap<FileUse>;
  readonly entities: LruMap<Entity>;
  readonly models: LruMap<ModelStats>;
  readonly steps: readonly CallDigest[];
  readonly context: ContextParts;
};

const initialCounts: SessionCounts = { runs: 0, userTurns: 0, turn: 0, made: 0, inARow: 0, time: 0 };

const initialStats: SessionStats = {
  ...initialCounts,
  model: '',
  pause: 0,
  waiting: [],
  calls: [],
  ended: undefined,
  tools: emptyLru(),
  tries: emptyLru(),
  files: emptyLru(),
  entities: emptyLru(),
  models: emptyLru(),
  steps: [],
  context: emptyContextParts,
};

/** The number of ended calls in which loops are detected. */
const maxSteps = 24;

/** The view that rules, gates, stop conditions, hooks and user interfaces read. Every agent with a built-in rule has it. */
export const sessionStats: NamedView<SessionStats> = {
  name: 'history',
  initial: initialStats,
  on(state, event) {
    // One copy per event, however much of it changes.
    const next: StatsDraft = { ...state };
    applyEvent(next, event);
    next.time = Date.parse(event.time) || state.time;
    next.pause = state.time ? Math.max(0, next.time - state.time) : 0;
    return next;
  },
  serialize: ({ runs, userTurns, turn, made, inARow, time, steps, ...rest }) => ({
    counts: { runs, userTurns, turn, made, inARow, time },
    steps,
    tools: serializeLru(rest.tools),
    tries: serializeLru(rest.tries),
    files: serializeLru(rest.files),
    entities: serializeLru(rest.entities),
    models: serializeLru(rest.models),
  }),
  restore: restoreStats,
};

/** A copy that is not shared yet, so it can be changed. */
type StatsDraft = { -readonly [key in keyof SessionStats]: SessionStats[key] };

function applyEvent(draft: StatsDraft, event: Event): void {
  const { calls } = draft;
  const call = event.type === 'tool-ended' ? calls.find(({ id }) => id === event.call) : undefined;
  draft.ended = undefined;
  draft.context = updateContextParts(draft.context, event, call?.tool);
  if (event.type === 'epoch-started') applyEpoch(draft, event);
  else if (event.type === 'input-received') applyInput(draft, event);
  else if (event.type === 'run-started') {
    draft.runs++;
    draft.inARow = 0;
  } else if (event.type === 'turn-started') applyTurnStart(draft, event);
  else if (event.type === 'turn-ended' || event.type === 'turn-failed') applyTurnEnd(draft, event);
  else if (event.type === 'tool-started') applyCallStart(draft, event);
  else if (event.type === 'branch-started') draft.waiting = [];
  else if (event.type === 'tool-ended' && call) applyCallEnd(draft, call, event);
  draft.calls = updateOpenCalls(calls, event);
}

function applyTurnStart(draft: StatsDraft, { turn, inputs }: Event & { readonly type: 'turn-started' }): void {
  draft.turn = turn;
  if (!inputs.some((input) => draft.waiting.includes(input))) return;
  draft.waiting = draft.waiting.filter((input) => !inputs.includes(input));
  draft.userTurns++;
}

/** Values that an epoch records are taken from it, even by a fold that saw the events before: both folds must give the same result. */
function applyEpoch(draft: StatsDraft, { model, baseline }: Event & { readonly type: 'epoch-started' }): void {
  draft.model = model;
  if (!baseline) return;
  const userInputs = (baseline.pending ?? []).filter(({ how }) => how !== 'steer');
  draft.turn = baseline.turn;
  draft.waiting = userInputs.map(({ input }) => input);
}

function applyInput(draft: StatsDraft, event: Event & { readonly type: 'input-received' }): void {
  recordEntities(draft, messageText({ role: 'user', parts: event.parts }), 'user');
  if (event.how === 'prompt' || event.how === 'follow-up') draft.waiting = [...draft.waiting, event.input];
}

function recordEntities(draft: StatsDraft, text: string, by: Entity['by']): void {
  if (text === '') return;
  for (const { kind, name } of extractEntities(text)) {
    const known = lruGet(draft.entities, name) ?? { kind, count: 0, by, turn: 0 };
    draft.entities = lruSet(draft.entities, name, { ...known, count: known.count + 1, turn: draft.turn });
  }
}

const emptyModelStats: ModelStats = { turns: 0, failed: 0, input: 0, output: 0, usd: 0, unpriced: 0, ms: 0 };

function applyTurnEnd(draft: StatsDraft, event: Event & { readonly type: 'turn-ended' | 'turn-failed' }): void {
  const ended = event.type === 'turn-ended';
  const model = ended ? event.model : draft.model;
  const stats = lruGet(draft.models, model) ?? emptyModelStats;
  draft.models = lruSet(draft.models, model, {
    turns: stats.turns + 1,
    failed: stats.failed + (ended ? 0 : 1),
    input: stats.input + (event.usage?.input ?? 0),
    output: stats.output + (event.usage?.output ?? 0),
    usd: stats.usd + (event.usd ?? 0),
    unpriced: stats.unpriced + (event.usage && event.usd === undefined ? 1 : 0),
    ms: stats.ms + event.ms,
  });
  if (ended) recordEntities(draft, messageText(event.message), 'model');
}

/** A call that is restarted after a crash is still one call. */
function applyCallStart(draft: StatsDraft, { call: id, tool, input }: Event & { readonly type: 'tool-started' }): void {
  const call = draft.calls.find((each) => each.id === id);
  if (!call || call.started) return;
  draft.tools = recordCallStart(draft, { ...call, tool, input: input ?? call.input }, draft);
  draft.made++;
}

function applyCallEnd(draft: StatsDraft, call: OpenCall, event: Event & { readonly type: 'tool-ended' }): void {
  const access = detectFileAccess(call, event);
  const failed = event.outcome === 'failed' || event.outcome === 'unknown';
  const attempt = { key: attemptKey(call.tool, call.input), result: resultHash(event) };
  const step: CallDigest = { tool: call.tool, is: hash53(`${attempt.key} ${attempt.result}`) };
  const { tools, tries } = recordCallEnd(draft, call, event, { position: draft, ...attempt });
  draft.tools = tools;
  draft.tries = tries;
  draft.ended = { ...call, outcome: event.outcome };
  draft.inARow = event.outcome === 'ok' ? 0 : draft.inARow + (failed ? 1 : 0);
  if (access) {
    const known = lruGet(draft.files, access.path) ?? unusedFile;
    draft.files = lruSet(draft.files, access.path, addFileUse(known, access.kind, draft.turn));
  }
  draft.steps = [...draft.steps.slice(1 - maxSteps), step];
}

const sampleEntity: Entity = { kind: 'path', count: 0, by: 'user', turn: 0 };

function restoreStats(stored: Json): SessionStats | undefined {
  if (!isObject(stored) || !hasSameShape(stored['counts'], initialCounts)) return undefined;
  const steps = Array.isArray(stored['steps']) ? (stored['steps'] as readonly unknown[]) : [];
  const maps = {
    tools: restoreLru(stored['tools'], emptyToolStats),
    tries: restoreLru(stored['tries'], noAttempts),
    files: restoreLru(stored['files'], unusedFile),
    entities: restoreLru(stored['entities'], sampleEntity),
    models: restoreLru(stored['models'], emptyModelStats),
  };
  if (steps.length > maxSteps || !steps.every((step) => hasSameShape(step, { tool: '', is: 0 }))) return undefined;
  if (Object.values(maps).some((map) => map === undefined)) return undefined;
  return {
    ...initialStats,
    ...(stored['counts'] as SessionCounts),
    ...(maps as Pick<SessionStats, keyof typeof maps>),
    steps: steps as readonly CallDigest[],
  };
}
