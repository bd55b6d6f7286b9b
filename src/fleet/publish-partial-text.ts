// What a model says in a run, passed on before it is settled: what is said to people, not thoughts and calls.
import type { Chunk, Event, PartialTextChannel } from '../core/index.ts';

/** Speaks for the model of a session. */
export type PartialTextPublisher = {
  /** To be told of every event of the session: from them is known which turn is spoken in, and whether it was settled. */
  onEvent(event: Event): void;
  onChunk(chunk: Chunk): void;
  /** Nobody works on the session here any more. */
  close(): void;
};

/** A voice in a session. */
export function createPartialTextPublisher(live: PartialTextChannel, session: string): PartialTextPublisher {
  let turn: { readonly turn: number; readonly since: number } | undefined;
  /** The parts of the answer that are text; each is a line of it. */
  let parts = new Set<number>();
  return {
    onEvent(event) {
      if (event.type === 'turn-ended' || event.type === 'turn-failed') live.commit(session);
      if (event.type !== 'turn-started') return;
      turn = { turn: event.turn, since: event.seq };
      parts = new Set();
    },
    onChunk(chunk) {
      if (!turn) return;
      if (chunk.type === 'restarted') {
        parts = new Set();
        live.publish(session, { ...turn, text: '', restarted: true });
      }
      if (chunk.type === 'part-started' && chunk.part === 'text') {
        if (parts.size > 0) live.publish(session, { ...turn, text: '\n' });
        parts.add(chunk.index);
      }
      if (chunk.type === 'part-delta' && parts.has(chunk.index)) live.publish(session, { ...turn, text: chunk.text });
    },
    close: () => live.discard(session),
  };
}
