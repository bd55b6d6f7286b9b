// The sessions of the user's terminal as other programs show them: a list with title and folder, their events, and a read-only log. Reading locks and changes nothing; a title is written as the terminal writes it.
import { statSync } from 'node:fs';
import type { Log } from '../core/index.ts';
import { openJsonl } from '../stores/index.ts';
import { titleSession } from './session-operations.ts';
import { readFileTree, type SessionTree } from './session-tree.ts';
import {
  findSession,
  listSessionFiles,
  summarizeSession,
  type SessionDirs,
  type SessionFile,
} from './session-directory.ts';

/** A session of the terminal in a list. */
export type TerminalSession = {
  readonly session: string;
  /** The name of its file. */
  readonly name: string;
  /** The title that the user chose, the name that the user gave, or the first message; absent if there is none yet. */
  readonly title?: string;
  /** The working directory. */
  readonly folder?: string;
  readonly model?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly events: number;
  /** `waiting` if its last run waits for an approval. */
  readonly status?: 'waiting';
};

/** The sessions of the terminal, for other programs. */
export type TerminalSessions = {
  /** All started sessions, the last changed first. */
  list(): readonly TerminalSession[];
  /** Calls a function with a read-only log of a session, and closes the log after it; throws `session/unknown` if there is none. */
  read<T>(session: string, work: (log: Log, info: TerminalSession) => Promise<T>): Promise<T>;
  /** Reads a session with the sessions of its sub-agents; throws `session/unknown` if there is none. */
  readTree(session: string): Promise<SessionTree>;
  /** Sets the title of a session; throws `store/locked` while a program has the session open. */
  setTitle(session: string, title: string): Promise<void>;
};

/** Gives access to the sessions in a data directory. Files that did not change since the last list are not read again. */
export function createTerminalSessions(dirs: SessionDirs): TerminalSessions {
  const known = new Map<string, { readonly version: string; readonly info: TerminalSession | undefined }>();

  function summarize(sessionFile: SessionFile): TerminalSession | undefined {
    const { size = 0, mtimeMs = 0 } = statSync(sessionFile.file, { throwIfNoEntry: false }) ?? {};
    const version = `${size} ${mtimeMs}`;
    const before = known.get(sessionFile.file);
    if (before?.version === version) return before.info;
    const info = toTerminalSession(sessionFile);
    known.set(sessionFile.file, { version, info });
    return info;
  }

  return {
    list() {
      const files = listSessionFiles(dirs);
      const present = new Set(files.map(({ file }) => file));
      for (const file of known.keys()) if (!present.has(file)) known.delete(file);
      return files
        .flatMap((sessionFile) => summarize(sessionFile) ?? [])
        .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.session.localeCompare(b.session));
    },
    async read(session, work) {
      const sessionFile = findSession(dirs, session);
      const log = await openJsonl(sessionFile.file, { mode: 'read' });
      try {
        const info = summarize(sessionFile);
        return await work(log, info ?? { ...emptyInfo, session: log.session, name: sessionFile.name });
      } finally {
        await log.close();
      }
    },
    // Only a name or an id: a request must not name a file.
    readTree: async (session) => readFileTree(dirs, findSession(dirs, session).file),
    async setTitle(session, title) {
      await titleSession(findSession(dirs, session), title);
    },
  };
}

const emptyInfo = { createdAt: '', updatedAt: '', events: 0 } as const;

function toTerminalSession(sessionFile: SessionFile): TerminalSession | undefined {
  const summary = summarizeSession(sessionFile);
  if (!summary) return undefined;
  const { id, name, created, changed, events = 0, model, title, folder, waiting } = summary;
  return {
    session: id,
    name,
    createdAt: created,
    updatedAt: changed,
    events,
    title,
    ...(folder === undefined ? {} : { folder }),
    ...(model === undefined ? {} : { model }),
    ...(waiting ? { status: 'waiting' } : {}),
  };
}
