// The contract of words that are not settled: on their way from who works on a session to who watches it.

/** A piece of what a model says in a turn that is not settled. */
export type PartialText = {
  readonly turn: number;
  /** The seq of the event that began the turn: of two turns of a session, the one with the smaller is out of date. */
  readonly since: number;
  readonly text: string;
  /** What was said of the turn before is taken back. */
  readonly restarted?: true;
};

/** Words that are not settled, from who works on a session to who watches it, in any process. They are in no log, and may be lost. */
export interface PartialTextChannel {
  /** Says a piece. It costs next to nothing where nobody listens, and nothing comes of it where it cannot be told. */
  publish(session: string, text: PartialText): void;
  /** What was said here is in the log: forgets it. */
  commit(session: string): void;
  /** What was said here will not be in the log: takes it back. */
  discard(session: string): void;
  /** Hears what is said, and first what the turn under way has said so far, until the returned function is called. */
  subscribe(session: string, heard: (text: PartialText) => void): () => void;
}
