// The run state: a pure fold over the events of the log.
import type { ApprovalPreview } from './approval-preview.ts';
import { resolveApproval, endCall, patchCall, closeOpenCalls, startCall } from './call-fold.ts';
import { FairleadError, errorMessage, type Failure } from './errors.ts';
import type { Event, TouchedFile, Limits, Note, PendingInput, UnknownCall, UsageTotals, StopReason } from './fact.ts';
import type { Json } from './json.ts';
import type { Message, ToolResultPart, ToolChoice, ToolSpec } from './message.ts';
import type { ModelOrigin } from './model-origin.ts';
import { enqueueNote, isNote } from './notes.ts';
import type { NamedView, Rule, View } from './ports.ts';
import { addUsage, chargeRun, zeroUsage } from './usage-totals.ts';
import { createPersistentList, type PersistentList } from './persistent-list.ts';
import { endTurn, failTurn, startEpoch, startTurn } from './turn-fold.ts';
import { advanceViews, initialViewStates, type ViewStates } from './projections.ts';
import type { UnconfirmedClaim } from './unconfirmed-claims.ts';

/** An approval question about a call, and its answer. */
export type CallApproval = {
  readonly question: string;
  readonly preview?: ApprovalPreview;
  readonly kind?: 'unknown-outcome' | 'client-tool';
  readonly allowed?: boolean;
  readonly happened?: boolean;
  readonly reason?: string;
};

/** A tool call of the last response whose result is not part of the history yet. */
export type ToolCall = {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly invalid?: string;
  readonly key?: string;
  /** The input after a gate rewrote it. */
  readonly sent?: Json;
  readonly ask?: CallApproval;
  /** The user said that the earlier attempt had no effect: it may run again once. */
  readonly again?: true;
  /** The questions the user approved: several gates may ask, one after the other. */
  readonly granted?: readonly string[];
  readonly result?: ToolResultPart;
};

/** Everything that determines the next step. */
export type RunState = {
  readonly seq: number;
  readonly head: string | null;
  readonly session: string;
  /** Marks our notes; empty in sessions of versions that had none. */
  readonly nonce: string;
  readonly epoch: number;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly model: string;
  /** Where the last epoch says that the model was opened. */
  readonly modelOrigin: ModelOrigin;
  /** The working directory that the last epoch recorded. */
  readonly cwd: string | undefined;
  readonly messages: PersistentList<Message>;
  /** Number of messages in the last request. */
  readonly sent: number;
  /** Estimated tokens of the next request. */
  readonly context: number;
  /** The estimate after the last compaction attempt: the next attempt waits until the request has grown. */
  readonly contextAfterCompaction: number;
  /** The files that tools touched, the latest last. */
  readonly files: readonly TouchedFile[];
  /** The calls whose outcome is unknown: the same call again needs approval. */
  readonly unknownCalls?: readonly UnknownCall[];
  readonly pending: readonly PendingInput[];
  readonly queue: readonly Note[];
  /** The states of the agent's views. */
  readonly viewStates: ViewStates;
  readonly calls: readonly ToolCall[];
  readonly loaded: readonly string[];
  readonly run: string | undefined;
  readonly limits: Limits | undefined;
  readonly choice: ToolChoice;
  readonly turn: number;
  readonly spent: UsageTotals;
  readonly total: UsageTotals;
  readonly failures: number;
  readonly failure: Failure | undefined;
  readonly answerRetries: number;
  readonly compactions: number;
  /** Hashes of the latest call batches with their results. */
  readonly callBatches: readonly number[];
  readonly inTurn: boolean;
  /** True if the model must be called again, for example because it has not read the latest tool results. */
  readonly needsTurn: boolean;
  /** True if the next turn adds no message to a history that ends with an answer. */
  readonly asIs: boolean;
  readonly truncated: boolean;
  readonly completed: boolean;
  readonly verified: boolean;
  readonly abstained: string | undefined;
  /** The statements of the last answer that a check could not confirm. */
  readonly unconfirmed?: readonly UnconfirmedClaim[] | undefined;
  /** The last answer as a check lets it be handed on; absent if no check replaced it. */
  readonly checkedText?: string | undefined;
  readonly ended: { readonly reason: StopReason; readonly detail?: string; readonly error?: Failure } | undefined;
};

const initialRunState: RunState = {
  seq: 0,
  head: null,
  session: '',
  nonce: '',
  epoch: 0,
  system: '',
  tools: [],
  model: '',
  modelOrigin: {},
  cwd: undefined,
  messages: createPersistentList<Message>(),
  sent: 0,
  context: 0,
  contextAfterCompaction: 0,
  files: [],
  pending: [],
  queue: [],
  viewStates: initialViewStates([]),
  calls: [],
  loaded: [],
  run: undefined,
  limits: undefined,
  choice: 'auto',
  turn: 0,
  spent: zeroUsage,
  total: zeroUsage,
  failures: 0,
  failure: undefined,
  answerRetries: 0,
  compactions: 0,
  callBatches: [],
  inTurn: false,
  needsTurn: false,
  asIs: false,
  truncated: false,
  completed: false,
  verified: false,
  abstained: undefined,
  ended: undefined,
};

/** Creates the run view. Rules are pure, so the note queue is part of the state and a crash cannot lose a note. */
export const runStateView = (
  rules: readonly Rule[] = [],
  views: readonly NamedView<unknown>[] = [],
): View<RunState> => ({
  initial: { ...initialRunState, messages: createPersistentList<Message>(), viewStates: initialViewStates(views) },
  on(state, event) {
    const next = reduceEvent(state, event);
    // The new state is not shared yet, so it is completed in place: this saves a copy per event.
    const now: MutableRunState = next === state ? { ...state } : next;
    now.seq = event.seq;
    now.head = event.id;
    now.viewStates = advanceViews(state.viewStates, event, state.seq === 0);
    if (rules.length === 0) return now;
    let { queue } = now;
    for (const [i, rule] of rules.entries())
      for (const note of ruleNotes(rule, i + 1, event, now)) queue = enqueueNote(queue, note);
    return queue === now.queue ? now : { ...now, queue };
  },
});

type MutableRunState = { -readonly [key in keyof RunState]: RunState[key] };

/** Returns the notes of a rule. A rule that throws becomes a note: an exception here would recur at every fold of the log. */
function ruleNotes(rule: Rule, number: number, event: Event, state: RunState): readonly Note[] {
  try {
    const notes = rule(event, state);
    if (Array.isArray(notes) && notes.every(isNote)) return notes;
    throw new TypeError('it gave no list of notes.');
  } catch (error) {
    const text = `Rule ${number} failed at ${event.type} and added nothing: ${errorMessage(error).slice(0, 300)}`;
    return [{ key: `rule-failed/${number}`, text }];
  }
}

/** Folds events into a state. */
export const fold = <S>(view: View<S>, events: Iterable<Event>, from: S = view.initial): S => {
  let state = from;
  for (const event of events) state = view.on(state, event);
  return state;
};

function reduceEvent(s: RunState, e: Event): RunState {
  switch (e.type) {
    case 'session-started':
      return { ...s, session: e.session, nonce: e.nonce ?? '' };
    case 'epoch-started':
      return startEpoch(s, e);
    case 'compaction-failed':
      return { ...chargeRun(s, e.spent ?? {}), contextAfterCompaction: s.context, compactions: s.compactions + 1 };
    case 'branch-started':
      return {
        ...closeOpenCalls(s, 'The conversation went back to before this call was settled.'),
        // After a compaction was undone it must not run again at once.
        contextAfterCompaction: e.reason === 'returned' ? s.context : s.contextAfterCompaction,
        pending: [],
        queue: [],
        run: undefined,
        needsTurn: false,
        asIs: false,
        inTurn: false,
        ended: undefined,
      };
    case 'input-received':
      return e.how === 'continue'
        ? { ...s, needsTurn: true, asIs: e.asIs === true, verified: false }
        : {
            ...s,
            pending: [
              ...s.pending,
              { input: e.input, how: e.how, parts: e.parts, ...(e.by === undefined ? {} : { by: e.by }) },
            ],
            verified: false,
          };
    case 'run-started':
      return {
        ...s,
        run: e.run,
        limits: e.limits,
        choice: e.choice ?? 'auto',
        spent: zeroUsage,
        failures: 0,
        failure: undefined,
        answerRetries: 0,
        compactions: 0,
        callBatches: [],
        truncated: false,
        completed: false,
        abstained: undefined,
        ended: undefined,
      };
    case 'turn-started':
      return startTurn(closeOpenCalls(s, lostResultText), e.inputs, e.notes);
    case 'turn-ended':
      return endTurn(closeOpenCalls(s, lostResultText), e);
    case 'turn-failed':
      return failTurn(s, e);
    case 'answer-rejected':
      return {
        ...s,
        answerRetries: s.answerRetries + 1,
        needsTurn: true,
        verified: false,
        queue: enqueueNote(s.queue, { key: 'answer-rejected', text: e.text, priority: 50 }),
      };
    case 'approval-requested':
      return patchCall(s, e.call, {
        ask: {
          question: e.question,
          ...(e.kind ? { kind: e.kind } : {}),
          ...(e.preview ? { preview: e.preview } : {}),
        },
      });
    case 'approval-resolved':
      return resolveApproval(s, e);
    case 'tool-started':
      return startCall(s, e);
    case 'tool-ended':
      return endCall(s, e);
    case 'check-ended':
      return e.verdict.type === 'passed'
        ? {
            ...s,
            verified: true,
            ...(e.verdict.claims ? { unconfirmed: [...(s.unconfirmed ?? []), ...e.verdict.claims] } : {}),
            checkedText: e.verdict.text ?? s.checkedText,
          }
        : e.verdict.type === 'abstained'
          ? { ...s, abstained: e.verdict.why, checkedText: e.verdict.text ?? s.checkedText }
          : {
              ...s,
              needsTurn: true,
              queue: enqueueNote(s.queue, { key: `check/${e.check}`, text: e.verdict.why, priority: 50 }),
            };
    case 'run-ended':
      return {
        ...s,
        run: undefined,
        inTurn: false,
        needsTurn: false,
        ended: {
          reason: e.reason,
          ...(e.detail === undefined ? {} : { detail: e.detail }),
          ...(e.error === undefined ? {} : { error: e.error }),
        },
      };
    case 'annotation-added':
      if (!e.spent) return s;
      return e.countsForRun ? chargeRun(s, e.spent) : { ...s, total: addUsage(s.total, e.spent) };
    default:
      throw unknownFactError(e);
  }
}

/** Open calls occur here only in damaged or edited logs: a turn starts after all calls of the last response have ended. */
const lostResultText = 'The result of this call was lost.';

const unknownFactError = (event: never): FairleadError =>
  new FairleadError('store/unknown-fact', `This version does not know the fact ${(event as Event).type}.`, {
    blame: 'store',
    hint: 'Open the session with the version that wrote it, or a later one.',
  });
