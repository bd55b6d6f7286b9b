// Stores the logs of sub-agents: one session file each in a directory beside the sessions; in memory if the parent session is not saved.
import path from 'node:path';
import { parseSubagentMetadata, type SubagentInfo, type SubagentStore } from '../../agent/subagents/index.ts';
import { openSessionWriter, runStateView, type Log } from '../../core/index.ts';
import { peekSession, getLockOwner, memoryLog, openJsonl, type MemoryLog, makePrivateDir } from '../../stores/index.ts';
import {
  subagentSessionsDir,
  toSessionFileName,
  findSession,
  listSessionFiles,
  type SessionFile,
  type SessionDirs,
} from '../../sessions/index.ts';

/** Creates the store of a data directory. */
export function createSubagentStore(dirs: SessionDirs): SubagentStore {
  const inMemory = new Map<string, MemoryLog>();
  /** Whether a parent session has a file, by its id: looking for a session reads all of them. */
  const savedParents = new Map<string, boolean>();
  return {
    async open(id, parent) {
      const isSaved = savedParents.get(parent) ?? hasSessionFile(dirs, parent);
      savedParents.set(parent, isSaved);
      if (!isSaved) {
        const log = inMemory.get(id) ?? memoryLog();
        inMemory.set(id, log);
        return { log };
      }
      const folder = subagentSessionsDir(dirs);
      makePrivateDir(folder);
      const log = await openJsonl(path.join(folder, toSessionFileName(id)));
      return { log, session: log.session };
    },
    async list(parent) {
      const onDisk = listSessionFiles(dirs, subagentSessionsDir(dirs)).filter(({ file }) => mayBelongTo(parent, file));
      // A file that cannot be read must not hide the others.
      const all = [
        ...onDisk.map((file) => readSubagentFile(file).catch(() => undefined)),
        ...[...inMemory].map(([id, log]) => readSubagentInfo(id, log, false)),
      ];
      return (await Promise.all(all)).flatMap((each) => (each?.metadata.parent === parent ? [each] : []));
    },
  };
}

/** Whether the session with this id has a file. */
function hasSessionFile(dirs: SessionDirs, id: string): boolean {
  try {
    return findSession(dirs, id) !== undefined;
  } catch {
    return false;
  }
}

/** Whether a file may belong to a sub-agent of this session; reads only the beginning of the file. */
function mayBelongTo(parent: string, file: string): boolean {
  try {
    const metadata = parseSubagentMetadata(peekSession(file).first('annotation-added'));
    // After very long instructions the metadata is not in the part that is read.
    return metadata === undefined || metadata.parent === parent;
  } catch {
    // The file was removed, or may not be read.
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
  running: SubagentInfo['running'],
): Promise<SubagentInfo | undefined> {
  const { state } = await openSessionWriter(log, runStateView());
  for await (const events of log.read()) {
    const metadata = events.map(parseSubagentMetadata).find((each) => each !== undefined);
    if (metadata) return { id, metadata, state, running };
  }
  return undefined;
}
