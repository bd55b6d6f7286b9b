// Where a session of an agent is kept: in memory, in one JSONL file, or in a store.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, type Log, type ResolvedAgent, type SessionStore } from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import type { SessionLogStore, SessionOptions } from './run-options.ts';
import { Session } from './session.ts';

/** A store for one session in one JSONL file. The file and its directory are created when the session is opened. */
export const fileSession = (file: string): SessionLogStore & Pick<SessionStore, 'reader'> => ({
  async open(id, { force = false } = {}): Promise<Log> {
    const { openJsonl } = await import('../stores/index.ts');
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    return openJsonl(file, { session: id, force });
  },
  async reader() {
    const { openJsonl } = await import('../stores/index.ts');
    return openJsonl(file, { mode: 'read' });
  },
});

/** Opens or begins a session. The log is closed if that fails. */
export async function openSession(agent: ResolvedAgent, { store, id }: SessionOptions = {}): Promise<Session> {
  const newId = id ?? randomUUID();
  const log = store ? await store.open(newId) : memoryLog();
  try {
    const session = await Session.open(agent, log, newId);
    if (id === undefined || session.id === id) return session;
    throw new FairleadError('session/other-id', `The log contains the session ${session.id}, not ${id}.`, {
      blame: 'user',
      hint: 'Omit the id to continue the session of the file.',
    });
  } catch (error) {
    await log.close();
    throw error;
  }
}
