// The contract of a place that keeps sessions: who may write to one, and who may only read.
import type { Log } from './ports.ts';

/** How a session is taken for writing. */
export type OpenSessionOptions = {
  /** Who takes it, as others are told. */
  readonly holder?: string;
  /** Takes it from whoever holds it, whose next append is then refused: for one to whom the queue gave the run. */
  readonly force?: boolean;
};

/** What a list tells of a session without reading it. */
export type SessionInfo = {
  readonly session: string;
  readonly name?: string;
  readonly begun: string;
  readonly changed: string;
  readonly events: number;
  /** Who has it open for writing now. */
  readonly holder?: string;
};

/** Sessions kept in one place, each with one fenced writer: an append by one that no longer holds it fails with `store/fenced`. */
export interface SessionStore {
  /** Takes a session for writing, or begins it; `store/locked` while another holds it. */
  open(session: string, options?: OpenSessionOptions): Promise<Log>;
  /** A session to be read and followed, held by nobody; `store/no-session` where there is none. Its `append` is refused. */
  reader(session: string): Promise<Log>;
  /** The sessions, the one changed last first. */
  list(options?: { readonly limit?: number; readonly before?: string }): Promise<readonly SessionInfo[]>;
  /** Removes a session that nobody holds. */
  remove(session: string): Promise<void>;
}
