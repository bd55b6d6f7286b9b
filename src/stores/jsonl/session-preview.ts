// Reads the start and the end of a session file, to list sessions without reading whole files. Nothing is verified.
import type { Event, Fact } from '../../core/index.ts';
import { readAll, realDisk, type Disk } from './disk.ts';
import {
  readEnvelope,
  parseEventLine,
  parseHeader,
  hasEventType,
  readEventTime,
  type SessionFileHeader,
} from './line.ts';
import { toDiskError } from './errors.ts';

/** What the start and the end of a file contain. */
export type SessionPeek = {
  /** The session id; empty if the header cannot be read. */
  readonly session: string;
  readonly created: string;
  readonly size: number;
  /** The modification time, in milliseconds. */
  readonly changed: number;
  /** The seq of the last event; undefined if its line is too long to be read. */
  readonly events: number | undefined;
  /** The time of that event. */
  readonly time: string | undefined;
  /** The first event of a type near the start, or the first of them that `isWanted` accepts. */
  first(type: Fact['type'], isWanted?: (event: Event) => boolean): Event | undefined;
  /** The last event of one of these types near the end, or else near the start. */
  last(...types: readonly Fact['type'][]): Event | undefined;
  /** The last event of a type that `isWanted` accepts, near the end, or else near the start. */
  lastWanted(type: Fact['type'], isWanted: (event: Event) => boolean): Event | undefined;
};

const endBytes = 16 * 1024;
/** How much of the start is read if its first lines are long. */
const maxHeadBytes = 64 * 1024;
/** How much of the end is read if its last line is long. */
const maxTailBytes = 1024 * 1024;

/** Reads both ends of a session file. */
export const peekSession = (file: string, disk: Disk = realDisk): SessionPeek => withOpenFile(file, disk, peekOpenFile);

/** The session id in the first line of a file; empty if it cannot be read. */
export const readSessionId = (file: string, disk: Disk = realDisk): string =>
  withOpenFile(
    file,
    disk,
    (_, fd) => parseHeaderLine(readAll(disk, fd, 0, 1024).toString().split('\n'))?.session ?? '',
  );

function withOpenFile<T>(file: string, disk: Disk, read: (disk: Disk, fd: number) => T): T {
  try {
    const fd = disk.open(file, 'r');
    try {
      return read(disk, fd);
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    throw toDiskError(error, file, 'read');
  }
}

const parseHeaderLine = ([line = '']: readonly string[]): SessionFileHeader | undefined =>
  parseHeader(line.replace(/^\uFEFF/, ''));

function peekOpenFile(disk: Disk, fd: number): SessionPeek {
  const { size = 0, mtimeMs = 0 } = disk.stat(fd) ?? {};
  const lines = headLines(disk, fd, size);
  const tail = size > endBytes ? tailLines(disk, fd, size) : lines;
  const last = tail.findLast((line) => readEnvelope(line, 0));
  const envelope = last === undefined ? undefined : readEnvelope(last, 0);
  const header = parseHeaderLine(lines);
  const find = (from: readonly string[], types: readonly Fact['type'][]): Event | undefined => {
    const line = from.find((each) => isLineOfType(each, types));
    return line === undefined ? undefined : readEvent(line);
  };
  return {
    session: header?.session ?? '',
    created: header?.created ?? '',
    size,
    changed: mtimeMs,
    events: envelope?.seq ?? (size > endBytes ? undefined : 0),
    time: last !== undefined && envelope ? readEventTime(last, envelope) : undefined,
    first: (type, isWanted) => (isWanted ? findWanted(lines, type, isWanted) : find(lines, [type])),
    lastWanted: (type, isWanted) =>
      findWanted(tail.toReversed(), type, isWanted) ?? findWanted(lines.toReversed(), type, isWanted),
    last: (...types) => find(tail.toReversed(), types) ?? find(lines.toReversed(), types),
  };
}

const findWanted = (
  lines: readonly string[],
  type: Fact['type'],
  isWanted: (event: Event) => boolean,
): Event | undefined =>
  lines
    .values()
    .filter((line) => isLineOfType(line, [type]))
    .map(readEvent)
    .find((event) => event !== undefined && isWanted(event));

/** The complete lines at the start of a file; reads more if the first lines are long. */
function headLines(disk: Disk, fd: number, size: number): readonly string[] {
  const lines = completeLines(readAll(disk, fd, 0, Math.min(size, endBytes)).toString(), true);
  if (lines.length > 4 || size <= endBytes) return lines;
  return completeLines(readAll(disk, fd, 0, Math.min(size, maxHeadBytes)).toString(), true);
}

/** The complete lines at the end of a file; reads more if the last line is long. */
function tailLines(disk: Disk, fd: number, size: number): readonly string[] {
  for (let bytes = endBytes; ; bytes *= 4) {
    const from = Math.max(0, size - bytes);
    const lines = completeLines(readAll(disk, fd, from, size - from).toString(), from === 0);
    if (lines.length > 0 || from === 0 || bytes >= maxTailBytes) return lines;
  }
}

function completeLines(text: string, fromStart: boolean): readonly string[] {
  const lines = text.split('\n');
  // The text after the last line end is empty, or an incomplete line.
  return lines.slice(fromStart ? 0 : 1, -1);
}

function isLineOfType(line: string, types: readonly Fact['type'][]): boolean {
  const envelope = readEnvelope(line, 0);
  return envelope !== undefined && types.some((type) => hasEventType(type, line, envelope));
}

function readEvent(line: string): Event | undefined {
  try {
    return parseEventLine(line, 0, line.length);
  } catch {
    return undefined;
  }
}
