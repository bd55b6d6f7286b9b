// Folds the events of a session into a timeline of messages, calls, approvals and costs, along the branch of its head.
import type { Event, Failure, FilePart, Message, Note, UnconfirmedClaim, Usage } from '../../../src/core/index.ts';
import { createTimelineCall, reduceCall, type CallEvent, type TimelineCall } from './timeline-call.ts';
import { applyAnnotation, applyVerdictText, updateTurn } from './timeline-turn.ts';
import { unwrapOutsideText } from '../text/call-summary.ts';
import { formatEpochReason, formatBranchReason, formatStopReason } from '../text/labels.ts';

/** A failed attempt at a model, and the wait before the next one. */
export type TimelineRetry = {
  readonly attempt: number;
  readonly maxAttempts?: number;
  readonly waitMs?: number;
  readonly provider?: string;
  readonly why: string;
  readonly time: string;
  readonly isRateLimit: boolean;
  readonly held?: boolean;
};

/** An item of the timeline; `key` is the id of its first event, `at` of its latest one. */
export type TimelineItem = {
  readonly key: string;
  readonly at: string;
  readonly seq: number;
  readonly time: string;
} & (
  | {
      readonly type: 'input';
      readonly input: string;
      readonly how: string;
      /** What added it, if it is not the user. */
      readonly by?: 'hook' | 'program' | 'agent';
      readonly text: string;
      readonly files: readonly FilePart[];
      readonly delivered: boolean;
    }
  | {
      readonly type: 'turn';
      readonly turn: number;
      readonly notes: readonly Note[];
      readonly message?: Message;
      readonly finish?: string;
      readonly model?: string;
      readonly usage?: Usage;
      readonly usd?: number;
      readonly estimated?: boolean;
      readonly ms?: number;
      readonly failure?: Failure;
      readonly partial?: string;
      /** Its text is verified before it is handed on. */
      readonly isDraft?: boolean;
      /** What the verification left of its text, with struck claims. */
      readonly checked?: string;
      /** The failed attempts of its model request. */
      readonly retries?: readonly TimelineRetry[];
      readonly calls: readonly TimelineCall[];
    }
  /** A message of the history of a fork or an edit. */
  | { readonly type: 'message'; readonly message: Message }
  | {
      readonly type: 'mark';
      readonly what: string;
      readonly text: string;
      readonly tone: 'quiet' | 'bad' | 'good';
      /** The session that the mark links to. */
      readonly session?: string;
    }
);

/** The timeline of a session; `offBranchCount` counts the events on other branches. */
export type Timeline = {
  readonly items: readonly TimelineItem[];
  readonly seq: number;
  readonly head: string | null;
  readonly model: string;
  readonly running: boolean;
  /** When the last run started. */
  readonly runStarted?: string;
  /** The working folder, where the log names it. */
  readonly folder?: string;
  /** The title that the user gave the session. */
  readonly title?: string;
  /** Whether answers are verified before they are handed on. */
  readonly isVerified?: boolean;
  readonly offBranchCount: number;
};

/** The empty timeline. */
export const emptyTimeline: Timeline = { items: [], seq: 0, head: null, model: '', running: false, offBranchCount: 0 };

/** Builds the timeline of events in log order. */
export function buildTimeline(events: readonly Event[]): Timeline {
  const path = getBranchPath(events);
  const folded = path.reduce(applyEvent, emptyTimeline);
  return { ...folded, seq: events.at(-1)?.seq ?? 0, offBranchCount: events.length - path.length };
}

/** Whether an event follows the head; otherwise the whole log must be folded again. */
export const followsHead = (timeline: Timeline, event: Event): boolean => event.parent === timeline.head;

/** Returns the timeline with an event that follows its head. */
export const applyEvent = (timeline: Timeline, event: Event): Timeline => ({
  ...reduceEvent(timeline, event),
  seq: event.seq,
  head: event.id,
});

/** Adds a mark to the timeline. */
export type AddMark = (what: string, text: string, tone?: 'quiet' | 'bad' | 'good') => Timeline;

/** Returns the events from the root to the last one, by their parent ids. */
function getBranchPath(events: readonly Event[]): readonly Event[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const path: Event[] = [];
  for (let at = events.at(-1); at; at = at.parent === null ? undefined : byId.get(at.parent)) path.push(at);
  return path.toReversed();
}

function reduceEvent(now: Timeline, event: Event): Timeline {
  const base = { key: event.id, at: event.id, seq: event.seq, time: event.time };
  const mark: AddMark = (what, text, tone = 'quiet') => ({
    ...now,
    items: [...now.items, { ...base, type: 'mark', what, text, tone }],
  });
  switch (event.type) {
    case 'session-started':
      return event.from ? addForkMark(now, event.from.session, base) : now;
    case 'annotation-added':
      return applyAnnotation(now, event);
    case 'epoch-started':
      return {
        ...applyEpochStarted(now, event, mark),
        model: event.model,
        ...(event.cwd === undefined ? {} : { folder: event.cwd }),
      };
    case 'compaction-failed':
      return mark('not compacted', `The conversation could not be compacted: ${event.why}`);
    case 'branch-started':
      return {
        ...mark('branch', [formatBranchReason(event.reason), event.detail].filter(Boolean).join('. ')),
        running: false,
      };
    case 'input-received':
      return event.how === 'continue' ? now : { ...now, items: [...now.items, { ...base, ...createInputItem(event) }] };
    case 'run-started':
      return { ...now, running: true, runStarted: event.time };
    case 'turn-started':
      return applyTurnStarted(now, event);
    case 'turn-ended':
      return updateTurn(now, event.id, {
        message: event.message,
        finish: event.finishReason,
        model: event.model,
        usage: event.usage,
        ms: event.ms,
        calls: event.message.parts.flatMap((part) => (part.type === 'tool-call' ? [createTimelineCall(part)] : [])),
        ...(event.usd === undefined ? {} : { usd: event.usd }),
        ...(event.estimated ? { estimated: true } : {}),
      });
    case 'turn-failed':
      return updateTurn(now, event.id, {
        failure: event.error,
        ms: event.ms,
        ...(event.partial === undefined ? {} : { partial: event.partial }),
        ...(event.usage ? { usage: event.usage } : {}),
        ...(event.usd === undefined ? {} : { usd: event.usd }),
      });
    case 'answer-rejected':
      return mark('rejected', `The answer was rejected (${event.why}): ${event.text}`);
    case 'approval-requested':
    case 'approval-resolved':
    case 'tool-started':
    case 'tool-ended':
      return updateCall(now, event);
    case 'check-ended':
      if (event.verdict.type !== 'failed' && event.verdict.text !== undefined)
        return applyVerdictText(now, event, event.verdict.text, mark);
      if (event.verdict.type !== 'abstained' && event.verdict.claims)
        return mark('check', formatClaims(event.verdict.type, event.verdict.claims), 'bad');
      // Nearly every answer passes; the list of events has it.
      if (event.check === 'all' && event.verdict.type === 'passed') return now;
      return event.verdict.type === 'passed'
        ? mark('check', `${event.check}: passed`, 'good')
        : mark('check', `${event.check}: ${event.verdict.type}. ${event.verdict.why}`, 'bad');
    case 'run-ended':
      return { ...applyRunEnded(now, event, mark), running: false };
    default:
      return mark('event', (event as { type: string }).type);
  }
}

/** The statements of an answer that a check sent back, or that are shown as not confirmed. */
const formatClaims = (verdict: 'passed' | 'failed', claims: readonly UnconfirmedClaim[]): string =>
  `${verdict === 'failed' ? 'Sent back to the model' : claims.every(({ kind }) => kind === 'link') ? 'Links of third parties' : 'Not confirmed by the log'}: ${claims.map(({ text, why }) => `"${text}" ${why}`).join(' ')}`;

const addForkMark = (
  now: Timeline,
  session: string,
  base: Pick<TimelineItem, 'key' | 'at' | 'seq' | 'time'>,
): Timeline => ({
  ...now,
  items: [...now.items, { ...base, type: 'mark', what: 'fork', text: 'Forked from', tone: 'quiet', session }],
});

/** An edit or a fork brings its history; a compaction is shown as a mark. */
function applyEpochStarted(now: Timeline, event: Event & { type: 'epoch-started' }, mark: AddMark): Timeline {
  const text = [formatEpochReason(event.reason), event.detail].filter(Boolean).join('. ');
  const what = event.reason === 'compacted' ? 'compacted' : event.reason === 'edited' ? 'edited' : 'changed';
  const { messages = [] } = event.baseline ?? {};
  const isFirstEpoch = event.reason === 'started';
  if (messages.length === 0 || (event.reason !== 'edited' && !isFirstEpoch && now.items.length > 0))
    return isFirstEpoch ? now : mark(what, text);
  const { id, seq, time } = event;
  const said = messages.map((message, i): TimelineItem => ({
    key: `${id} ${i}`,
    at: id,
    seq,
    time,
    type: 'message',
    message,
  }));
  return { ...now, items: [...(isFirstEpoch ? now.items : mark(what, text).items.slice(now.items.length)), ...said] };
}

function applyRunEnded(now: Timeline, event: Event & { type: 'run-ended' }, mark: AddMark): Timeline {
  if ((event.reason === 'answered' || event.reason === 'task-complete') && event.detail === undefined) return now;
  const last = now.items.findLast((item) => item.type === 'turn');
  // The error is not repeated if the failed turn shows it.
  const isShown = last?.type === 'turn' && last.failure !== undefined && last.failure.message === event.error?.message;
  const why = isShown ? '' : (event.error?.message ?? event.detail ?? '');
  const tone =
    event.error || !['answered', 'task-complete', 'cancelled', 'abstained'].includes(event.reason) ? 'bad' : 'quiet';
  return mark(
    'ended',
    [`Ended: ${formatStopReason(event.reason)}`, why, isShown ? '' : event.error?.hint]
      .filter(Boolean)
      .join('. ')
      .replaceAll('..', '.'),
    tone,
  );
}

/** The words that mark the text of a hook for the model. */
const hookPrefix = /^A \w+ hook of the (?:user|person) adds:\n/;

const createInputItem = (
  event: Event & { type: 'input-received' },
): Omit<Extract<TimelineItem, { type: 'input' }>, 'key' | 'at' | 'seq' | 'time'> => ({
  type: 'input',
  input: event.input,
  how: event.how,
  ...(event.by === undefined ? {} : { by: event.by }),
  text: unwrapOutsideText(
    event.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
  ).text.replace(event.by === 'hook' ? hookPrefix : '', ''),
  files: event.parts.flatMap((part) => (part.type === 'file' ? [part] : [])),
  delivered: false,
});

/** Inputs of a turn come before it; a retried turn replaces the failed one. */
function applyTurnStarted(now: Timeline, event: Event & { type: 'turn-started' }): Timeline {
  const delivered = now.items.map((item) =>
    item.type === 'input' && !item.delivered && event.inputs.includes(item.input) ? { ...item, delivered: true } : item,
  );
  const turn: TimelineItem = {
    key: event.id,
    at: event.id,
    seq: event.seq,
    time: event.time,
    type: 'turn',
    turn: event.turn,
    notes: event.notes,
    calls: [],
    ...(now.isVerified === true ? { isDraft: true } : {}),
  };
  return { ...now, running: true, items: [...delivered, turn] };
}

/** A call belongs to the last turn with a call of this id. */
function updateCall(now: Timeline, event: CallEvent): Timeline {
  const index = now.items.findLastIndex(
    (item) => item.type === 'turn' && item.calls.some((call) => call.id === event.call),
  );
  const turn = now.items[index];
  if (turn?.type !== 'turn') return now;
  const calls = turn.calls.map((call) => (call.id === event.call && !call.result ? reduceCall(call, event) : call));
  return { ...now, items: now.items.with(index, { ...turn, calls, at: event.id }) };
}
