// Explains a turn from the log: the origin of each note, notes that were deferred or expired, and calls that a gate asked about or denied.
import {
  unwrapDeferredCall,
  messageToolCalls,
  FairleadError,
  formatFlowReview,
  parseFlowReview,
  runStateView,
  type DecisionSource,
  type Event,
  type Json,
  type Note,
  type RunState,
  type Verdict,
} from '../core/index.ts';
import type { CompiledRuleSet } from '../rules/index.ts';
import { getSessionDirectory } from './simulate-policy.ts';
import { getRuleName } from './recorded-sessions.ts';

/** The event that produced a note. */
export type NoteOrigin = {
  readonly event: Event['type'];
  readonly seq: number;
  readonly turn: number;
  readonly about?: string;
};

/** A note and its origin; no origin means that its rule is not in use now. */
export type ExplainedNote = {
  readonly rule: string;
  readonly key: string;
  readonly text: string;
  readonly priority: number;
  readonly group?: string;
  readonly until?: number;
  readonly from?: NoteOrigin;
};

/** A call of the turn that was denied, needed an approval or was reviewed. */
export type HeldCall = {
  readonly tool: string;
  readonly input: Json;
  readonly refused?: string;
  readonly by?: string;
  readonly asked?: string;
  readonly answered?: 'yes' | 'no';
  /** The verdict of a reviewer, if no user was there. */
  readonly reviewed?: string;
};

/** The explanation of a turn. */
export type TurnExplanation = {
  readonly turn: number;
  readonly shown: readonly ExplainedNote[];
  readonly waited: readonly ExplainedNote[];
  readonly expired: readonly ExplainedNote[];
  readonly held: readonly HeldCall[];
  /** The verdicts of checks on the answer of the turn, with the statements that were not confirmed. */
  readonly verdicts: readonly CheckVerdict[];
};

/** What a check said about the answer of a turn. */
export type CheckVerdict = { readonly check: string; readonly verdict: Verdict; readonly seq: number };

/** Returns the working directory of a session. */
export const getDirectoryOfEvents = (events: readonly Event[]): string =>
  getSessionDirectory({ cwd: events.findLast((event) => event.type === 'epoch-started')?.cwd });

/** Explains a turn. Rules are pure, so folding the log again reproduces their notes. */
export function explainTurn(
  events: readonly Event[],
  parts: readonly CompiledRuleSet[],
  turn: number,
): TurnExplanation {
  const views = new Map(parts.flatMap((each) => each.views).map((view) => [view.name, view]));
  const view = runStateView(
    parts.flatMap(({ rules }) => rules),
    [...views.values()],
  );
  const origins = new Map<string, NoteOrigin>();
  let state = view.initial;
  let found: Omit<TurnExplanation, 'held' | 'verdicts'> | undefined;
  for (const event of events) {
    const before = state;
    state = view.on(state, event);
    if (event.type === 'turn-started' && event.turn === turn) found = explainNotes(event, before, state, origins);
    const known = new Set(before.queue);
    for (const note of state.queue) if (!known.has(note)) origins.set(note.key, toNoteOrigin(event, state, before));
  }
  if (!found)
    throw new FairleadError('session/no-turn', `The session has no turn ${turn} on its current branch.`, {
      blame: 'user',
      hint: state.turn > 0 ? `It has turns 1 to ${state.turn}.` : 'It has no turns yet.',
    });
  return { ...found, held: findHeldCalls(events, turn), verdicts: findVerdicts(events, turn) };
}

/** Returns the verdicts between the answer of a turn and the next turn that say more than that all checks passed. */
function findVerdicts(events: readonly Event[], turn: number): readonly CheckVerdict[] {
  const from = events.findLastIndex((event) => event.type === 'turn-ended' && event.turn === turn);
  if (from < 0) return [];
  const next = events.findIndex((event, i) => i > from && event.type === 'turn-started');
  return events
    .slice(from + 1, next < 0 ? undefined : next)
    .flatMap((event) =>
      event.type === 'check-ended' && (event.verdict.type !== 'passed' || event.verdict.claims)
        ? [{ check: event.check, verdict: event.verdict, seq: event.seq }]
        : [],
    );
}

function explainNotes(
  event: Event & { readonly type: 'turn-started' },
  before: RunState,
  after: RunState,
  origins: ReadonlyMap<string, NoteOrigin>,
): Omit<TurnExplanation, 'held' | 'verdicts'> {
  const tell = (note: Note): ExplainedNote => toExplainedNote(note, origins.get(note.key));
  const shown = new Set(event.notes.map(({ key }) => key));
  const rest = before.queue.filter(({ key }) => !shown.has(key));
  const stays = (note: Note): boolean => after.queue.includes(note);
  return {
    turn: event.turn,
    shown: event.notes.map((note) =>
      origins.has(note.key) || !/^reminder-\d+$/.test(note.key)
        ? tell(note)
        : toExplainedNote(note, {
            event: 'turn-started',
            seq: event.seq,
            turn: event.turn,
            about: 'the program itself',
          }),
    ),
    waited: rest.filter(stays).map(tell),
    expired: rest.filter((note) => !stays(note)).map(tell),
  };
}

const toExplainedNote = (
  { key, text, priority = 0, group, until }: Note,
  from: NoteOrigin | undefined,
): ExplainedNote => ({
  rule: getRuleName(key),
  key,
  text,
  priority,
  ...(group === undefined ? {} : { group }),
  ...(until === undefined ? {} : { until }),
  ...(from ? { from } : {}),
});

function toNoteOrigin(event: Event, { turn }: RunState, before: RunState): NoteOrigin {
  const about = 'call' in event ? before.calls.find(({ id }) => id === event.call)?.tool : undefined;
  return { event: event.type, seq: event.seq, turn, ...(about === undefined ? {} : { about }) };
}

/** Returns the calls of a turn that were denied or needed an approval. Call ids repeat on other branches, so only events after the turn count. */
function findHeldCalls(events: readonly Event[], turn: number): readonly HeldCall[] {
  const from = events.findLastIndex((event) => event.type === 'turn-ended' && event.turn === turn);
  const ended = events[from];
  if (ended?.type !== 'turn-ended') return [];
  const next = events.findIndex((event, i) => i > from && event.type === 'turn-started');
  const after = events.slice(from + 1, next < 0 ? undefined : next);
  return messageToolCalls(ended.message).flatMap(({ id, tool, input }) => {
    const mine = after.filter((event) => 'call' in event && event.call === id);
    const asked = mine.find((event) => event.type === 'approval-requested')?.question;
    const answer = mine.find((event) => event.type === 'approval-resolved')?.allowed;
    const refused = mine.find((event) => event.type === 'tool-ended' && event.outcome === 'denied') as
      | (Event & { readonly type: 'tool-ended' })
      | undefined;
    const review = after.map(parseFlowReview).find((each) => each?.call === id);
    if (asked === undefined && !refused && !review) return [];
    const aim = unwrapDeferredCall({ tool, input });
    const by = refused ? formatDenier(refused.deniedBy, answer) : undefined;
    return [
      {
        ...(typeof aim === 'string' ? { tool, input } : aim),
        ...(asked === undefined ? {} : { asked }),
        ...(answer === undefined ? {} : { answered: answer ? ('yes' as const) : ('no' as const) }),
        ...(refused && by !== undefined ? { refused: refused.text, by } : {}),
        ...(review ? { reviewed: formatFlowReview(review) } : {}),
      },
    ];
  });
}

/** The gate that denied a call, by name. */
function formatDenier(by: DecisionSource | undefined, answer: boolean | undefined): string {
  if (by?.kind === 'rule' && by.name !== undefined) return by.name;
  if (by?.kind === 'flow') return 'the flow policy';
  if (by?.kind === 'hook') return by.name === undefined ? 'a hook' : `hook ${by.name}`;
  return by?.kind === 'user' || answer === false ? 'the user' : 'the permissions';
}
