// Publishes the partial text of a model's answer to other processes: text only, without reasoning and tool calls.
import type { Chunk, Event, PartialTextChannel } from '../core/index.ts';

/** Publishes the partial text of one session. */
export type PartialTextPublisher = {
  /** Must get every event of the session: events say which turn is active and when its text is committed. */
  onEvent(event: Event): void;
  onChunk(chunk: Chunk): void;
  /** Discards partial text that was not committed. */
  close(): void;
};

/** Creates the publisher of a session. */
export function createPartialTextPublisher(channel: PartialTextChannel, session: string): PartialTextPublisher {
  let turn: { readonly turn: number; readonly since: number } | undefined;
  /** The indexes of the text parts of the answer; each starts a new line. */
  let textParts = new Set<number>();
  return {
    onEvent(event) {
      if (event.type === 'turn-ended' || event.type === 'turn-failed') channel.commit(session);
      if (event.type !== 'turn-started') return;
      turn = { turn: event.turn, since: event.seq };
      textParts = new Set();
    },
    onChunk(chunk) {
      if (!turn) return;
      if (chunk.type === 'restarted') {
        textParts = new Set();
        channel.publish(session, { ...turn, text: '', restarted: true });
      }
      if (chunk.type === 'part-started' && chunk.part === 'text') {
        if (textParts.size > 0) channel.publish(session, { ...turn, text: '\n' });
        textParts.add(chunk.index);
      }
      if (chunk.type === 'part-delta' && textParts.has(chunk.index))
        channel.publish(session, { ...turn, text: chunk.text });
    },
    close: () => channel.discard(session),
  };
}
