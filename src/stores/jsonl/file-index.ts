// In-memory index of a session file: contiguous segments, damaged ranges, end offset and detected problems. Holds no events.
import type { SessionFileHeader } from './line.ts';

/** A problem that was found in a session file, or a fact about it that the user should know. */
export type SessionFileProblem = {
  readonly kind:
    | 'torn'
    | 'damaged'
    | 'duplicate'
    | 'edited'
    | 'unlinked'
    | 'header'
    | 'format'
    | 'taken-over'
    | 'place';
  /** The line number, from 1; 0 if the problem concerns the whole file. */
  readonly line: number;
  /** The byte offset of the line. */
  readonly offset: number;
  readonly message: string;
  /** The side file that keeps the bytes as they were found. */
  readonly backupFile?: string;
  /** No further action is needed. */
  readonly resolved?: boolean;
};

/** Consecutive lines, each following the one before it. `parentEnd` is the end offset of the line that the first one follows, once resolved. */
export type FileSegment = {
  readonly from: number;
  to: number;
  readonly line: number;
  parent: string | null;
  parentEnd: number | undefined;
  readonly epochs: number[];
};

/** A line that holds an event, but not the one that was written there. */
export type ModifiedLine = {
  readonly line: number;
  readonly offset: number;
  readonly end: number;
  readonly text: string;
  readonly candidateHashes: readonly string[];
  readonly before: FileCursor;
};

/** Bytes that are not an event. */
export type DamagedRange = { readonly offset: number; readonly end: number };

/** A position between two lines: what a new line would follow there. `link` is the hash of the line before. */
export type FileCursor = {
  readonly offset: number;
  readonly line: number;
  readonly events: number;
  readonly seq: number;
  readonly id: string | null;
  readonly link: string;
};

/** A file without branches: the offset of its first event, the time of the last one, and the offsets of epochs with a baseline. */
export type LinearFile = { readonly from: number; readonly time: string; readonly epochs: readonly number[] };

/** The index of a file, filled by a scan and updated by a writer. */
export type SessionFileIndex = {
  -readonly [key in keyof FileCursor]: FileCursor[key];
} & {
  /** Where the scan began: 0, or the epoch up to which a sidecar index was valid. */
  readonly indexedFrom: number;
  header: SessionFileHeader | undefined;
  time: string;
  /** The highest seq found, including lines that no longer count: the next event's seq is higher. */
  maxSeq: number;
  /** Other hashes that the next line may be chained to, because lines before it were modified. */
  altHashes: readonly string[];
  /** The hash that the next line is chained to is unknown. */
  hashLost: boolean;
  /** A line follows an event before `indexedFrom`. */
  leavesIndexedPart: boolean;
  /** The position before the last epoch with a baseline. */
  lastEpoch: FileCursor | undefined;
  readonly segments: FileSegment[];
  /** Lines that are read differently from their bytes, by offset: the valid lines that were found in each. */
  readonly replacedLines: Map<number, readonly string[]>;
  readonly damagedRanges: DamagedRange[];
  readonly problems: SessionFileProblem[];
  modifiedLines: ModifiedLine[];
  /** The last branch that records edits: its offset, and the seq of the event it follows. Edits between the two are resolved. */
  editBranch: { readonly offset: number; readonly after: number; readonly branch: string } | undefined;
  /** Lines that repeat an id, until it is known whether they repeat the whole event. */
  duplicates: (ModifiedLine & { readonly id: string })[];
};

/** Creates an empty index; with a cursor, an index of what follows it; with `straight`, the index of a whole file without branches. */
export const createFileIndex = (
  cursor?: FileCursor & { readonly straight?: LinearFile },
  header?: SessionFileHeader,
): SessionFileIndex => ({
  ...(cursor ? toCursor(cursor) : { offset: 0, line: 0, events: 0, seq: 0, id: null, link: '' }),
  indexedFrom: cursor?.straight ? 0 : (cursor?.offset ?? 0),
  header,
  time: cursor?.straight?.time ?? '',
  maxSeq: cursor?.seq ?? 0,
  altHashes: [],
  hashLost: false,
  leavesIndexedPart: false,
  lastEpoch: undefined,
  segments: cursor?.straight ? [toSegment(cursor.straight, cursor.offset)] : [],
  replacedLines: new Map(),
  damagedRanges: [],
  problems: [],
  modifiedLines: [],
  editBranch: undefined,
  duplicates: [],
});

const toSegment = ({ from, epochs }: LinearFile, to: number): FileSegment => ({
  from,
  to,
  line: 2,
  parent: null,
  parentEnd: undefined,
  epochs: [...epochs],
});

/** The summary of a valid file without branches; undefined for any other file. */
export function summarizeLinearFile(index: SessionFileIndex): LinearFile | undefined {
  const { indexedFrom, time, segments, replacedLines, problems, modifiedLines, duplicates } = index;
  const [only, second] = segments;
  const isValid = replacedLines.size + problems.length + modifiedLines.length + duplicates.length === 0;
  if (!only || second || indexedFrom > 0 || !isValid || only.line !== 2) return undefined;
  return { from: only.from, time, epochs: only.epochs.slice(-1000) };
}

/** The position at which an index ends. */
export const toCursor = ({ offset, line, events, seq, id, link }: FileCursor): FileCursor => ({
  offset,
  line,
  events,
  seq,
  id,
  link,
});

/** A range of bytes in a file. */
export type ByteRange = { readonly from: number; readonly to: number };

/** The byte ranges of the branch to the line that ends at an offset; undefined if the branch leaves the index. */
export function branchRanges(index: SessionFileIndex, end: number): readonly ByteRange[] | undefined {
  const ranges: ByteRange[] = [];
  for (let to: number | undefined = end; to !== undefined;) {
    const at = findSegment(index, to);
    if (!at) return undefined;
    ranges.push({ from: at.from, to });
    if (at.parentEnd === undefined && at.parent !== null) return undefined;
    to = at.parentEnd;
  }
  return ranges.toReversed();
}

/** The same branch from its last epoch with a baseline on, or all of it if it has none; undefined if the branch leaves the index. */
export function branchRangesFromEpoch(index: SessionFileIndex, end: number): readonly ByteRange[] | undefined {
  const ranges: ByteRange[] = [];
  for (let to: number | undefined = end; to !== undefined;) {
    const at = findSegment(index, to);
    if (!at) return undefined;
    const limit: number = to;
    const epoch = at.epochs.findLast((offset) => offset < limit);
    ranges.push({ from: epoch ?? at.from, to });
    if (epoch !== undefined) break;
    if (at.parentEnd === undefined && at.parent !== null) return undefined;
    to = at.parentEnd;
  }
  return ranges.toReversed();
}

const findSegment = (index: SessionFileIndex, end: number): FileSegment | undefined =>
  index.segments.findLast((segment) => segment.from < end && end <= segment.to);
