// Finds which sockets are served outside the sandbox although the kernel's table does not list their path: the program is in another network namespace, such as a container of the user, or renamed the socket.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { parseSocketTable, readSocketTable } from './host-sockets.ts';

/**
 * Returns those of these sockets that a program outside the sandbox serves. A file without a program stays usable, so that a command can replace what an earlier
 * one left; a socket of a running command of this process stays usable too.
 */
export async function findForeignSockets(sockets: readonly string[]): Promise<readonly string[]> {
  const known = sockets.filter(isKnownForeign);
  if (known.length === sockets.length) return known;
  const own = listSocketsOfCommands();
  const unknown = sockets.filter((at) => !known.includes(at) && !own.some((name) => isSameSocket(name, at)));
  const served = await Promise.all(unknown.map(isServed));
  const found = unknown.filter((_, at) => served[at]);
  for (const at of found) knownForeign.set(at, inodeOf(at));
  return [...known, ...found];
}

/** The inodes of the sockets that were found to be foreign. A command that starts later cannot change that by a socket of the same name. */
const knownForeign = new Map<string, number | undefined>();

function isKnownForeign(at: string): boolean {
  const inode = inodeOf(at);
  return inode !== undefined && knownForeign.get(at) === inode;
}

function inodeOf(at: string): number | undefined {
  try {
    return lstatSync(at, { throwIfNoEntry: false })?.ino;
  } catch {
    return undefined;
  }
}

const connectMs = 1000;

/** Only a refused connection proves that no program has the socket. A program is asked once, and its answer is read: some end if a connection breaks. */
const isServed = (at: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path: at });
    socket.setTimeout(connectMs, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('connect', () => {
      socket.unref().resume().end();
      resolve(true);
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(!['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '')),
    );
  });

const maxDescendants = 4096;

/** Returns the names that the commands of this process have bound: each has a network namespace, and with it a table, of its own. */
function listSocketsOfCommands(): readonly string[] {
  const seen = new Set([namespaceOf('self')]);
  return listDescendants(process.pid).flatMap((pid) => {
    const namespace = namespaceOf(pid);
    if (namespace === undefined || seen.has(namespace)) return [];
    seen.add(namespace);
    try {
      return parseSocketTable(readSocketTable(`/proc/${pid}/net/unix`)).map(({ name }) => name);
    } catch {
      // It has ended. Its sockets count as foreign.
      return [];
    }
  });
}

function namespaceOf(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}

function listDescendants(ancestor: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = parentOf(name);
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(Number(name));
    else children.set(parent, [Number(name)]);
  }
  const found = [ancestor];
  for (let next = 0; next < found.length && found.length < maxDescendants; next++)
    found.push(...(children.get(found[next] ?? 0) ?? []));
  return found.slice(1);
}

/** The parent is the second field after the name of the program, which may contain spaces. */
function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** A command sees the working folder at the same path. A relative name is compared by its last part. */
const isSameSocket = (name: string, at: string): boolean =>
  path.isAbsolute(name) ? path.normalize(name) === at : path.basename(name) === path.basename(at);
