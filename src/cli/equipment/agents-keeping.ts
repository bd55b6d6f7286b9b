// Where agents keep their logs: a session file each, in a folder beside the sessions that started them; in memory where those are kept nowhere.
import path from 'node:path';
import { aboutIn, type Known } from '../../agent/agents/about.ts';
import type { AgentKeeping } from '../../agent/agents/crew.ts';
import { openHead, runView, type Log } from '../../core/index.ts';
import { glimpse, holderOf, memoryLog, openJsonl, type MemoryLog } from '../../stores/index.ts';
import {
  agentFolder,
  fileNameFor,
  findSession,
  sessionPlaces,
  type SessionPlace,
  type Shelf,
} from '../sessions/index.ts';
import { makeFolder } from '../settings/private-file.ts';

/** Keeps the logs of agents on this shelf. */
export function agentKeeping(shelf: Shelf): AgentKeeping {
  const inMemory = new Map<string, MemoryLog>();
  return {
    async open(id, parent) {
      if (!isKept(shelf, parent)) {
        const log = inMemory.get(id) ?? memoryLog();
        inMemory.set(id, log);
        return { log };
      }
      const folder = agentFolder(shelf);
      makeFolder(folder);
      const log = await openJsonl(path.join(folder, fileNameFor(id)));
      return { log, session: log.session };
    },
    async kept(parent) {
      const onDisk = sessionPlaces(shelf, agentFolder(shelf)).filter(({ file }) => parentIn(file) === parent);
      const all = [...onDisk.map(fromFile), ...[...inMemory].map(([id, log]) => fromMemory(id, log, parent))];
      return (await Promise.all(all)).filter((each) => each !== undefined);
    },
  };
}

/** Whether the session of this id has a file. */
function isKept(shelf: Shelf, id: string): boolean {
  try {
    return findSession(shelf, id) !== undefined;
  } catch {
    return false;
  }
}

function parentIn(file: string): string | undefined {
  try {
    return aboutIn(glimpse(file).first('remark-made'))?.parent;
  } catch {
    // It vanished, or is not for us to read.
    return undefined;
  }
}

async function fromFile({ name, file }: SessionPlace): Promise<Known | undefined> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    return await knownFrom(name, log, holderOf(file) ? 'elsewhere' : false);
  } finally {
    await log.close();
  }
}

async function fromMemory(id: string, log: MemoryLog, parent: string): Promise<Known | undefined> {
  const known = await knownFrom(id, log, false);
  return known?.about.parent === parent ? known : undefined;
}

async function knownFrom(id: string, log: Log, live: Known['live']): Promise<Known | undefined> {
  const { state } = await openHead(log, runView());
  for await (const events of log.read()) {
    const about = events.map(aboutIn).find((each) => each !== undefined);
    if (about) return { id, about, state, live };
  }
  return undefined;
}
