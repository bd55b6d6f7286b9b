// Where agents keep their logs: a session file each, in a folder beside the sessions that started them; in memory where those are kept nowhere.
import path from 'node:path';
import { parseSubagentMetadata, type SubagentInfo } from '../../agent/subagents/metadata.ts';
import type { SubagentStore } from '../../agent/subagents/launch.ts';
import { openSessionWriter, runStateView, type Log } from '../../core/index.ts';
import { peekSession, getLockOwner, memoryLog, openJsonl, type MemoryLog } from '../../stores/index.ts';
import {
  subagentSessionsDir,
  toSessionFileName,
  findSession,
  listSessionFiles,
  type SessionFile,
  type SessionDirs,
} from '../../sessions/index.ts';
import { makePrivateDir } from '../../stores/private-file.ts';

/** Keeps the logs of agents on this shelf. */
export function createSubagentStore(shelf: SessionDirs): SubagentStore {
  const inMemory = new Map<string, MemoryLog>();
  // To look for a session is to look into all of them.
  const known = new Map<string, boolean>();
  return {
    async open(id, parent) {
      const onShelf = known.get(parent) ?? hasSessionFile(shelf, parent);
      known.set(parent, onShelf);
      if (!onShelf) {
        const log = inMemory.get(id) ?? memoryLog();
        inMemory.set(id, log);
        return { log };
      }
      const folder = subagentSessionsDir(shelf);
      makePrivateDir(folder);
      const log = await openJsonl(path.join(folder, toSessionFileName(id)));
      return { log, session: log.session };
    },
    async list(parent) {
      const onDisk = listSessionFiles(shelf, subagentSessionsDir(shelf)).filter(({ file }) =>
        mayBelongTo(parent, file),
      );
      // One that cannot be read must not hide the others.
      const all = [
        ...onDisk.map((place) => readSubagentFile(place).catch(() => undefined)),
        ...[...inMemory].map(([id, log]) => readSubagentInfo(id, log, false)),
      ];
      return (await Promise.all(all)).flatMap((each) => (each?.metadata.parent === parent ? [each] : []));
    },
  };
}

/** Whether the session of this id has a file. */
function hasSessionFile(shelf: SessionDirs, id: string): boolean {
  try {
    return findSession(shelf, id) !== undefined;
  } catch {
    return false;
  }
}

/** Whether the agent in a file may be one of this session, from the beginning of the file alone. */
function mayBelongTo(parent: string, file: string): boolean {
  try {
    const about = parseSubagentMetadata(peekSession(file).first('annotation-added'));
    // Behind very long instructions it does not show.
    return about === undefined || about.parent === parent;
  } catch {
    // It vanished, or is not for us to read.
    return false;
  }
}

async function readSubagentFile({ name, file }: SessionFile): Promise<SubagentInfo | undefined> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    return await readSubagentInfo(name, log, getLockOwner(file) ? 'elsewhere' : false);
  } finally {
    await log.close();
  }
}

async function readSubagentInfo(
  id: string,
  log: Log,
  live: SubagentInfo['running'],
): Promise<SubagentInfo | undefined> {
  const { state } = await openSessionWriter(log, runStateView());
  for await (const events of log.read()) {
    const about = events.map(parseSubagentMetadata).find((each) => each !== undefined);
    if (about) return { id, metadata: about, state, running: live };
  }
  return undefined;
}
