// Interface for partial model output: text of an unfinished turn, from the process that runs a session to its subscribers.

/** A chunk of the text of an unfinished turn. */
export type PartialText = {
  readonly turn: number;
  /** The seq of the event that started the turn: of two turns of a session, the one with the smaller seq is outdated. */
  readonly since: number;
  readonly text: string;
  /** The turn was started again: earlier chunks of it are void. */
  readonly restarted?: true;
};

/** Publishes partial text to the subscribers of a session in any process. It is in no log, and may be lost. */
export interface PartialTextChannel {
  /** Publishes a chunk. Cheap without subscribers; never throws. */
  publish(session: string, text: PartialText): void;
  /** Forgets the text that this process published: it is in the log now. */
  commit(session: string): void;
  /** Retracts the text that this process published: it will not be in the log. */
  discard(session: string): void;
  /** Calls the listener with the text of the current turn so far, then with each chunk, until the returned function is called. */
  subscribe(session: string, listener: (text: PartialText) => void): () => void;
}
