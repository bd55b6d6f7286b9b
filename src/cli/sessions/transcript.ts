// A session's file as a conversation, and a conversation as text that a person reads in a terminal.
import { runView, toArray, visible, type Event, type Log, type Message, type RunState } from '../../core/index.ts';
import { openJsonl, type Problem } from '../../stores/index.ts';
import { outlineOf, type Item } from './outline.ts';

/** What a session's file says. */
export type SessionText = {
  readonly id: string;
  readonly state: RunState;
  /** Everything that was said on the way to where the session stands, also what a compaction took from the model's sight. */
  readonly messages: readonly Message[];
  readonly problems: readonly Problem[];
};

/** Reads a session as it stands, without taking it from whoever writes to it. */
export async function readSession(file: string): Promise<SessionText> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    return { id: log.session, ...(await told(log)), problems: log.report };
  } finally {
    await log.close();
  }
}

async function told(log: Log): Promise<Pick<SessionText, 'state' | 'messages'>> {
  const view = runView();
  const before: Message[] = [];
  let state = view.initial;
  let from = 0;
  for await (const events of log.read()) {
    for (const event of events) {
      const old = state.messages;
      state = view.on(state, event);
      if (event.type !== 'epoch-started' || !event.baseline) continue;
      if (event.reason === 'compacted') before.push(...toArray(old, from));
      else before.length = 0;
      from = event.reason === 'compacted' ? state.messages.length : 0;
    }
  }
  return { state, messages: [...before, ...toArray(state.messages, from)] };
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

/** All messages as plain text, control characters made visible. */
export const transcriptText = (messages: readonly Message[]): string =>
  outlineOf(messages)
    .map((item) => visible(itemText(item)))
    .join('\n\n');

function itemText(item: Item): string {
  switch (item.type) {
    case 'said':
      return `── ${item.who} ──\n${item.text}`;
    case 'thought':
      return `── Thinking ──\n${item.text}`;
    case 'file':
      return item.text;
    case 'call': {
      const call = `── ${item.tool} ──${item.input === '' ? '' : `\n${item.input}`}`;
      if (!item.result) return `${call}\n→ no result yet`;
      return `${call}\n→ ${item.result.failed ? 'failed: ' : ''}${item.result.text}`;
    }
  }
}
