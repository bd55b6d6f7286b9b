// Finds the Unix sockets of programs outside the sandbox that a command could connect to. A network namespace does not separate sockets that have a path.
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, escapeInvisibleLine } from '../../core/index.ts';
import type { SandboxPaths } from './sandbox.ts';

/** A bound socket of the kernel's table: its number, and the path as the program gave it. */
export type BoundSocket = { readonly id: string; readonly name: string };

const maxTableBytes = 16_000_000;
const maxSockets = 256;
const maxProcesses = 20_000;

/** The sockets that programs outside the sandbox have bound. */
export type HostSockets = {
  /** Where they are; real paths. */
  readonly sockets: readonly string[];
  /** The folders of those that are no longer where they were bound: some programs rename a socket when it is ready. */
  readonly leftFolders: readonly string[];
};

/** Finds the sockets in these folders that programs outside the sandbox have bound. Commands have a network namespace of their own, so the table does not list their sockets. */
export function findHostSockets(paths: SandboxPaths, folders: readonly string[]): HostSockets {
  const known = knownSockets.get(paths);
  const present = new Map<string, LocatedSocket>();
  // All paths are real and absolute, and there may be hundreds: a comparison of texts is enough.
  const starts = folders.map((folder) => `${folder}${path.sep}`);
  const visible = new Set<string>();
  let bases: readonly string[] | undefined;
  for (const { id, name } of parseSocketTable(readSocketTable(ownTable))) {
    let socket = known?.get(id);
    if (socket?.name !== name) {
      if (!path.isAbsolute(name)) bases ??= [...paths.roots, ...listProcessFolders()];
      socket = { name, locations: locateSocket(name, bases ?? []) };
      // A path that led nowhere is resolved again: a running command may have renamed a folder above it for a moment.
    } else if (socket.locations.length === 0) socket = { name, locations: locateSocket(name, paths.roots) };
    present.set(id, socket);
    for (const at of socket.locations) if (starts.some((start) => at.startsWith(start))) visible.add(at);
    if (name.includes('\uFFFD') && starts.some((start) => name.startsWith(start)) && !isSocket(name))
      throw socketError(`The name of the socket ${escapeInvisibleLine(name)} is not UTF-8, so it cannot be hidden`);
  }
  knownSockets.set(paths, present);
  const isPresent = new Map([...visible].map((at) => [at, isSocket(at)]));
  const left = [...visible].filter((at) => !isPresent.get(at)).map((at) => path.dirname(at));
  return {
    sockets: assertCoverable([...visible].filter((at) => isPresent.get(at))),
    leftFolders: [...new Set(left)].slice(0, maxSockets),
  };
}

/** Where a socket was when it was first seen: a link that changes later does not move it. */
type LocatedSocket = { readonly name: string; readonly locations: readonly string[] };

/** The listed sockets, by their numbers. */
const knownSockets = new WeakMap<SandboxPaths, ReadonlyMap<string, LocatedSocket>>();

/** The table of the network namespace of this process. */
const ownTable = '/proc/self/net/unix';

let tableBuffer = Buffer.alloc(131_072);

/** Returns the kernel's table of Unix sockets. Throws if it cannot be read or is too large, because a socket could be missed. */
export function readSocketTable(file: string): string {
  let length = 0;
  try {
    const descriptor = openSync(file, 'r');
    try {
      while (length < maxTableBytes) {
        if (length === tableBuffer.length) tableBuffer = Buffer.concat([tableBuffer], 2 * length);
        // The kernel gives a page at a time, so the buffer is used again.
        const bytesRead = readSync(descriptor, tableBuffer, length, tableBuffer.length - length, null);
        if (bytesRead === 0) return tableBuffer.toString('utf8', 0, length);
        length += bytesRead;
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw socketError('The list of the sockets of this machine (/proc/self/net/unix) cannot be read', cause);
  }
  throw socketError('There are too many sockets on this machine to check which are in the working folder');
}

/** The start of an entry: its address, reference count, protocol, flags, type and state, and number. */
const entryStart = /^[\da-f]+: [\dA-F]{8} [\dA-F]{8} [\dA-F]{8} [\dA-F]{4} [\dA-F]{2} +\d+(?: |$)/;
const addressEnd = ': ';
const [typeOffset, stateOffset, numberOffset] = [27, 32, 35];

/** Parses the kernel's table: the sockets that have a path. Abstract names, which begin with `@`, are separated by the network namespace. */
export function parseSocketTable(table: string): readonly BoundSocket[] {
  const lines = (table.endsWith('\n') ? table.slice(0, -1) : table).split('\n');
  const width = lines[1]?.indexOf(addressEnd) ?? 0;
  const found: { id: string; name: string }[] = [];
  for (let next = 1; next < lines.length; next++) {
    const line = lines[next] ?? '';
    const start = width + addressEnd.length;
    const nameAt = line.indexOf(' ', findNumber(line, start + numberOffset));
    if (nameAt === -1 || line[nameAt + 1] === '@') continue;
    // Datagrams are accepted in any state, connections only if the socket is not connected itself: a connection to the server of a command has its name too.
    const isDatagram = line.startsWith('0002', start + typeOffset);
    if (!isDatagram && !line.startsWith('01', start + stateOffset)) continue;
    let name = line.slice(nameAt + 1);
    // A name may contain line breaks, so it ends where the next entry begins.
    while (next + 1 < lines.length && !entryStart.test(lines[next + 1] ?? '')) name += `\n${lines[++next] ?? ''}`;
    found.push({ id: line.slice(start + numberOffset, nameAt).trim(), name });
  }
  return found;
}

/** Short numbers have spaces before them. */
function findNumber(line: string, from: number): number {
  let at = from;
  while (line[at] === ' ') at++;
  return at;
}

/** A relative name was resolved in the working directory that its program had at that time: the roots and the present directories of all programs are tried. */
function locateSocket(name: string, bases: readonly string[]): readonly string[] {
  if (!path.isAbsolute(name)) return [...new Set(bases.map((base) => path.resolve(base, name)).filter(isSocket))];
  try {
    return [path.join(realpathSync.native(path.dirname(name)), path.basename(name))];
  } catch {
    return [];
  }
}

function listProcessFolders(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .slice(0, maxProcesses)
    .flatMap((pid) => {
      try {
        return [readlinkSync(`/proc/${pid}/cwd`)];
      } catch {
        // It has ended, or belongs to another user.
        return [];
      }
    });
}

function isSocket(at: string): boolean {
  try {
    return lstatSync(at, { throwIfNoEntry: false })?.isSocket() === true;
  } catch {
    return false;
  }
}

/** Returns the paths, or throws if they cannot all be covered. */
function assertCoverable(sockets: readonly string[]): readonly string[] {
  if (sockets.length <= maxSockets) return sockets;
  throw socketError(
    `There are more than ${maxSockets} sockets of other programs in the folders of the sandbox, for example ${escapeInvisibleLine(sockets[0] ?? '')}`,
  );
}

const socketError = (why: string, cause?: unknown): FairleadError =>
  new FairleadError(
    'sandbox/stopped',
    `Commands are stopped: ${why}. Commands could connect to such a socket and act outside the sandbox. Start in another folder, or close these programs, then commands run again.`,
    { blame: 'user', ...(cause === undefined ? {} : { cause }) },
  );
