// Interface of a session store: one fenced writer per session, any number of readers.
import type { Log } from './ports.ts';

/** The key of the annotation with the title and the folder of a session; the last one in the log counts, on any branch. */
export const sessionLabelsKey = 'session-labels';

/** Options to open a session for writing. */
export type OpenSessionOptions = {
  /** The name of the writer, as other processes see it. */
  readonly holder?: string;
  /** Takes the session over from its writer, whose next append is then refused: for a worker that has claimed the run. */
  readonly force?: boolean;
  /** The tenant that a new session belongs to. A fleet store refuses to open a session of another tenant. */
  readonly tenant?: string;
};

/** A session in a list. */
export type SessionInfo = {
  readonly session: string;
  readonly name?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly events: number;
  /** The tenant that it belongs to; absent if it belongs to none. */
  readonly tenant?: string;
  /** The name of the writer that has it open. */
  readonly holder?: string;
};

/** A session store. Each session has one fenced writer: an append of a writer that lost the session fails with `store/fenced`. */
export interface SessionStore {
  /** Opens a session for writing, and creates it if there is none; throws `store/locked` while another writer has it open. */
  open(session: string, options?: OpenSessionOptions): Promise<Log>;
  /** Opens a session for reading and following, without a lock; throws `store/no-session` if there is none. Its `append` is refused. */
  reader(session: string): Promise<Log>;
  /** The sessions, last changed first. */
  list(options?: { readonly limit?: number; readonly before?: string }): Promise<readonly SessionInfo[]>;
  /** Removes a session; throws `store/locked` while a writer has it open. */
  remove(session: string): Promise<void>;
}

/** The sessions of a fleet store: each belongs to the tenant of the run that created it. */
export interface FleetSessionStore extends SessionStore {
  /** The session, without its events; undefined if there is none. */
  find(session: string): Promise<SessionInfo | undefined>;
  /** The sessions, last changed first; with `tenant`, only those that belong to it. */
  list(options?: {
    readonly limit?: number;
    readonly before?: string;
    readonly tenant?: string;
  }): Promise<readonly SessionInfo[]>;
}
