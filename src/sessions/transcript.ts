// Reads a session file as a conversation, and formats a conversation as plain text.
import {
  runStateView,
  toArray,
  escapeInvisible,
  type Event,
  type Log,
  type Message,
  type RunState,
} from '../core/index.ts';
import { openJsonl, type SessionFileProblem } from '../stores/index.ts';
import { createAddedInputs, type AddedInputs } from './added-inputs.ts';
import { addCallRecord, type CallRecord, type CallRecords } from './call-records.ts';
import { toTranscriptItems, type TranscriptItem } from './transcript-items.ts';

/** The contents of a session. */
export type SessionContents = {
  readonly id: string;
  readonly state: RunState;
  /** All messages on the current branch, including those before a compaction. */
  readonly messages: readonly Message[];
  /** How the calls of the messages ended. */
  readonly calls: CallRecords;
  /** The texts of user messages that the user did not write. */
  readonly added: AddedInputs;
  readonly problems: readonly SessionFileProblem[];
};

/** Reads a session without locking it. */
export async function readSession(file: string): Promise<SessionContents> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    return { id: log.session, ...(await readTranscript(log)), problems: log.report };
  } finally {
    await log.close();
  }
}

/** Reads all messages on the current branch of a log, and its state. */
export async function readTranscript(
  log: Pick<Log, 'read'>,
): Promise<Pick<SessionContents, 'state' | 'messages' | 'calls' | 'added'>> {
  const view = runStateView();
  const before: Message[] = [];
  const calls = new Map<string, CallRecord>();
  const added = createAddedInputs();
  let state = view.initial;
  let known = 0;
  let knownParts = 0;
  /** Messages since the last compaction; the first input after it may be part of the last message of the summary. */
  const since = ({ messages }: RunState): readonly Message[] => {
    const joined = messages.items[known - 1];
    const joinedPart =
      joined && joined.parts.length > knownParts ? [{ ...joined, parts: joined.parts.slice(knownParts) }] : [];
    return [...joinedPart, ...toArray(messages, known)];
  };
  for await (const events of log.read()) {
    for (const event of events) {
      const old = state;
      state = view.on(state, event);
      addCallRecord(calls, event);
      added.record(event);
      if (event.type !== 'epoch-started' || !event.baseline) continue;
      const { messages } = event.baseline;
      const compacted = event.reason === 'compacted';
      if (compacted) for (const item of since(old)) before.push(item);
      else before.length = 0;
      known = compacted ? messages.length : 0;
      knownParts = compacted ? (messages.at(-1)?.parts.length ?? 0) : 0;
    }
  }
  return { state, messages: [...before, ...since(state)], calls, added };
}

/** Follows the events of a session from a seq on until the signal aborts, without locking it. */
export async function* followSessionFile(file: string, signal: AbortSignal, from = 0): AsyncGenerator<Event> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    yield* log.follow(from, signal);
  } finally {
    await log.close();
  }
}

/** Formats all messages as plain text with control characters escaped. */
export const formatSessionTranscript = (
  messages: readonly Message[],
  calls?: CallRecords,
  added?: AddedInputs,
): string =>
  toTranscriptItems(messages, calls, added)
    .map((item) => escapeInvisible(formatTranscriptItem(item)))
    .join('\n\n');

function formatTranscriptItem(item: TranscriptItem): string {
  switch (item.type) {
    case 'text':
      return `── ${item.speaker} ──\n${item.text}`;
    case 'reasoning':
      return `── Thinking ──\n${item.text}`;
    case 'file':
      return item.text;
    case 'call': {
      const call = `── ${item.tool} ──${item.input === '' ? '' : `\n${item.input}`}`;
      if (!item.result) return `${call}\n→ no result yet`;
      return `${call}\n→ ${item.outcome === 'ok' ? '' : `${item.outcome}: `}${item.result.text}${item.diff === undefined ? '' : `\n${item.diff}`}`;
    }
  }
}
