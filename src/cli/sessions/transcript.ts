// A conversation as text that a person reads in a terminal, and the way to it from a session's file.
import {
  openHead,
  runView,
  toArray,
  visible,
  type Event,
  type FilePart,
  type Message,
  type Part,
  type RunState,
} from '../../core/index.ts';
import { openJsonl, type Problem } from '../../stores/index.ts';

/** What a session's file says, read without taking it from whoever writes to it. */
export type SessionText = {
  readonly id: string;
  readonly state: RunState;
  readonly messages: readonly Message[];
  readonly problems: readonly Problem[];
};

/** Reads a session as it stands. */
export async function readSession(file: string): Promise<SessionText> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    const { state } = await openHead(log, runView());
    return { id: log.session, state, messages: toArray(state.messages), problems: log.report };
  } finally {
    await log.close();
  }
}

/** Every event of a session that another process may be writing, from a seq on and then as they come, until the signal aborts. Takes no lock. */
export async function* watchSession(file: string, signal: AbortSignal, from = 0): AsyncGenerator<Event> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    yield* log.follow(from, signal);
  } finally {
    await log.close();
  }
}

/** Who speaks, as a heading says it. */
export const speakers: Readonly<Record<Message['role'], string>> = {
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tools',
};

/** All messages as plain text, control characters made visible. */
export const transcriptText = (messages: readonly Message[]): string => messages.map(messageText).join('\n\n');

const messageText = ({ role, parts }: Message): string =>
  [`── ${speakers[role]} ──`, ...parts.map((part) => visible(partText(part)))].join('\n');

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'reasoning':
      return `(thinking) ${part.text}`;
    case 'file':
      return fileText(part);
    case 'tool-call':
      return `→ ${part.tool} ${part.invalid ?? JSON.stringify(part.input)}`;
    case 'tool-result':
      return `← ${part.tool}${part.failed ? ' failed' : ''}: ${part.text}`;
  }
}

/** What a file is, in words: its bytes are not for reading. */
export const fileText = ({ name, mediaType }: FilePart): string => `[file: ${name ?? 'unnamed'}, ${mediaType}]`;
