// Runs the check of action claims on the state of a run: reads the answer and the log, and formats what is sent back to the model.
import {
  errorMessage,
  isObject,
  messageText,
  parseNotes,
  readView,
  toArray,
  unwrapDeferredCall,
  type Message,
  type RunState,
  type ToolCallPart,
  type ToolResultPart,
  type UnconfirmedClaim,
  type Verdict,
} from '../../core/index.ts';
import type { CheckedClaim } from '../types.ts';
import { getAnswer } from './action-check.ts';
import { actionLogView, type ActionLog } from './action-log.ts';
import { checkActionClaims } from './check-claims.ts';
import type { ActionEvidence } from './types.ts';

/** Checks the last answer. A failure of the check itself never holds up a run: it is recorded with the answer. */
export function runActionCheck(state: RunState): Verdict {
  try {
    const log = readView(state, actionLogView);
    const checked = checkActionClaims(getAnswer(state) ?? '', createActionEvidence(state, log));
    const claims = toUnconfirmedClaims(checked);
    if (claims.length === 0) return { type: 'passed' };
    if (log.wasSentBack || !hasRoomForTurn(state)) return { type: 'passed', claims };
    return { type: 'failed', why: formatSentBack(claims), claims };
  } catch (error) {
    const why = `The check of action claims could not run: ${errorMessage(error)}`;
    return { type: 'passed', claims: [{ text: 'what the answer says was done', why }] };
  }
}

const maxTextChars = 300;

/** The contradicted claims, one entry for each statement and reason. */
export function toUnconfirmedClaims(checked: readonly CheckedClaim[]): readonly UnconfirmedClaim[] {
  const found = new Map<string, UnconfirmedClaim>();
  for (const { text, span, verdict } of checked) {
    if (verdict.type !== 'contradicted') continue;
    const events = verdict.evidence.flatMap(({ source }) => (source.type === 'event' ? [source.seq] : []));
    const key = `${span.start} ${verdict.why}`;
    if (!found.has(key))
      found.set(key, {
        text: text.length > maxTextChars ? `${text.slice(0, maxTextChars - 1)}…` : text,
        why: verdict.why,
        span: [span.start, span.end],
        ...(events.length > 0 ? { events } : {}),
      });
  }
  return [...found.values()];
}

const maxSentBack = 10;

/** What the model reads. The statements are its own words, as JSON texts. */
function formatSentBack(claims: readonly UnconfirmedClaim[]): string {
  const shown = claims.slice(0, maxSentBack).map(({ text, why }, i) => `${i + 1}. ${JSON.stringify(text)}: ${why}`);
  const more = claims.length > maxSentBack ? [`(${claims.length - maxSentBack} more)`] : [];
  return [
    'Your answer says that things were done which the log of this session contradicts or does not contain:',
    ...shown,
    ...more,
    'Do now what is missing and still wanted, or correct the answer. Then give the complete answer again, with only what the results of your tools show.',
  ].join('\n');
}

/** Whether the limits of the run leave room for another turn: an answer is never lost because it was sent back. */
function hasRoomForTurn({ limits, spent, context }: RunState): boolean {
  if (!limits) return false;
  const share = 1 / Math.max(1, spent.turns);
  if (spent.turns + 1 > limits.turns) return false;
  if (limits.tokens !== undefined && spent.input + spent.output + context * 1.2 + 4000 > limits.tokens) return false;
  if (limits.ms !== undefined && spent.ms * (1 + share) > limits.ms) return false;
  return limits.usd === undefined || spent.usd * (1 + 2 * share) <= limits.usd;
}

/** What the conversation still has: results, written texts, and words of the user. Nothing is read before it is asked for. */
export function createActionEvidence(state: RunState, log: ActionLog): ActionEvidence {
  let messages: readonly Message[] | undefined;
  const read = (): readonly Message[] => (messages ??= toArray(state.messages));
  const findResult = createPartSearch<ToolResultPart>(read, 'tool', 'tool-result');
  const findCall = createPartSearch<ToolCallPart>(read, 'assistant', 'tool-call');
  let own: ReadonlySet<string> | undefined;
  return {
    log,
    resultText: (call) => findResult(call)?.text,
    writtenText(call) {
      const part = findCall(call);
      const aim = part && unwrapDeferredCall({ tool: part.tool, input: part.input });
      if (!aim || typeof aim === 'string' || !isObject(aim.input)) return undefined;
      const { content, new_string: inserted, patch } = aim.input;
      if (typeof content === 'string') return { text: content, whole: true };
      const changed = [inserted, patch].find((each) => typeof each === 'string');
      return typeof changed === 'string' ? { text: changed, whole: false } : undefined;
    },
    isOfThisRun(call) {
      own ??= callsAfterPrompt(read());
      return own.has(call);
    },
    touchedPaths: () => (state.files.length < maxTouched ? state.files.map(({ path }) => path) : undefined),
    prompt: () => userTexts(read()).findLast((text) => text.trim() !== '') ?? '',
    isFromUser: (text) => userTexts(read()).some((each) => each.includes(text)),
  };
}

/** The state keeps at most this many files that tools touched. */
const maxTouched = 100;

/** The calls after the last words of the user. */
function callsAfterPrompt(messages: readonly Message[]): ReadonlySet<string> {
  const last = messages.findLastIndex((message) => userTexts([message]).some((text) => text.trim() !== ''));
  const parts = messages.slice(last + 1).flatMap(({ role, parts }) => (role === 'assistant' ? parts : []));
  return new Set(parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])));
}

/** The words of the user in each message, without our notes. */
const userTexts = (messages: readonly Message[]): readonly string[] =>
  messages
    .filter(({ role }) => role === 'user')
    .map((message) =>
      messageText({
        ...message,
        parts: message.parts.filter((part) => part.type === 'text' && parseNotes(part.text) === undefined),
      }),
    );

/** Finds the part of a type by the id of its call; the last one counts where an id repeats. Messages are read from the end, as far as a search needs them. */
function createPartSearch<P extends ToolResultPart | ToolCallPart>(
  read: () => readonly Message[],
  role: Message['role'],
  type: P['type'],
): (call: string) => P | undefined {
  const found = new Map<string, P>();
  let next: number | undefined;
  return (call) => {
    const known = found.get(call);
    if (known) return known;
    const messages = read();
    next ??= messages.length - 1;
    while (next >= 0) {
      const message = messages[next--];
      if (message?.role !== role) continue;
      for (let i = message.parts.length - 1; i >= 0; i--) {
        const part = message.parts[i];
        if (part?.type === type && !found.has((part as P).id)) found.set((part as P).id, part as P);
      }
      const part = found.get(call);
      if (part) return part;
    }
    return undefined;
  };
}
