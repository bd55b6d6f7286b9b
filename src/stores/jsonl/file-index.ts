// What is known of a session file without holding its events: its straight stretches, its holes, its end, and what was wrong.
import type { SessionFileHeader } from './line.ts';

/** Something that was found wrong, or worth knowing, about a session file. */
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
  /** The line, counted from one; 0 where it is about the whole file. */
  readonly line: number;
  /** The byte at which it begins. */
  readonly offset: number;
  /** One sentence. */
  readonly what: string;
  /** The side file that keeps the bytes as they were found. */
  readonly kept?: string;
  /** Nothing more has to be done about it. */
  readonly healed?: boolean;
};

/** Consecutive lines of which each follows the one before it. `parentEnd` is where the line that the first one follows ends, once found. */
export type FileSegment = {
  readonly from: number;
  to: number;
  readonly line: number;
  parent: string | null;
  parentEnd: number | undefined;
  readonly epochs: number[];
};

/** A line that is an event but not the one that was written there. */
export type ModifiedLine = {
  readonly line: number;
  readonly offset: number;
  readonly end: number;
  readonly text: string;
  readonly candidateHashes: readonly string[];
  readonly before: FileCursor;
};

/** Bytes that are no event as they stand. */
export type DamagedRange = {
  readonly line: number;
  readonly offset: number;
  readonly end: number;
  readonly candidateHashes: readonly string[];
  /** What could be done about it was done. */
  repaired: boolean;
};

/** A place between two lines: what a new line would follow there. */
export type FileCursor = {
  readonly offset: number;
  readonly line: number;
  readonly events: number;
  readonly seq: number;
  readonly id: string | null;
  readonly link: string;
};

/** A file without branches: where its first event begins, the last one's time, and its self-contained epochs. */
export type LinearFile = { readonly from: number; readonly time: string; readonly epochs: readonly number[] };

/** The chart of a file, filled by a scan and carried on by a writer. */
export type SessionFileIndex = {
  -readonly [key in keyof FileCursor]: FileCursor[key];
} & {
  /** Where charting began: 0, or the epoch that an index vouched for. */
  readonly indexedFrom: number;
  header: SessionFileHeader | undefined;
  time: string;
  /** The highest seq ever seen, also in a line that is no longer counted: the next event's is higher. */
  maxSeq: number;
  /** Other hashes that the next line may be tied to, because lines before it are not what they were. */
  altHashes: readonly string[];
  /** What the next line is tied to was lost. */
  hashLost: boolean;
  /** A line follows an event that lies before the charted part. */
  leavesIndexedPart: boolean;
  /** The last self-contained epoch, as the spot before it. */
  lastEpoch: FileCursor | undefined;
  readonly segments: FileSegment[];
  /** Lines that are not read as they stand, by offset, with the sound lines that were found in each. */
  readonly replacedLines: Map<number, readonly string[]>;
  readonly damagedRanges: DamagedRange[];
  readonly problems: SessionFileProblem[];
  modifiedLines: ModifiedLine[];
  /** The last branch that takes up edits: where it begins, and the seq of the event it follows. What was changed between them is settled. */
  editBranch: { readonly offset: number; readonly after: number; readonly branch: string } | undefined;
  /** Lines that repeat an id, until it is known whether they repeat the event. */
  duplicates: (ModifiedLine & { readonly id: string })[];
};

/** A chart of nothing yet, of what lies before a spot that is known to be sound, or of a whole file that is known to be straight. */
export const createFileIndex = (
  spot?: FileCursor & { readonly straight?: LinearFile },
  header?: SessionFileHeader,
): SessionFileIndex => ({
  ...(spot ? toCursor(spot) : { offset: 0, line: 0, events: 0, seq: 0, id: null, link: '' }),
  indexedFrom: spot?.straight ? 0 : (spot?.offset ?? 0),
  header,
  time: spot?.straight?.time ?? '',
  maxSeq: spot?.seq ?? 0,
  altHashes: [],
  hashLost: false,
  leavesIndexedPart: false,
  lastEpoch: undefined,
  segments: spot?.straight ? [toSegment(spot.straight, spot.offset)] : [],
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

/** What a chart says of a file that is sound and without branches; nothing for any other. */
export function summarizeLinearFile(chart: SessionFileIndex): LinearFile | undefined {
  const { indexedFrom, time, segments, replacedLines, problems, modifiedLines, duplicates } = chart;
  const [only, second] = segments;
  const sound = replacedLines.size + problems.length + modifiedLines.length + duplicates.length === 0;
  if (!only || second || indexedFrom > 0 || !sound || only.line !== 2) return undefined;
  return { from: only.from, time, epochs: only.epochs.slice(-1000) };
}

/** The spot at which a chart ends. */
export const toCursor = ({ offset, line, events, seq, id, link }: FileCursor): FileCursor => ({
  offset,
  line,
  events,
  seq,
  id,
  link,
});

/** A part of a file, from a byte to a byte. */
export type ByteRange = { readonly from: number; readonly to: number };

/** The parts of the file that make up the path to the line that ends at a place; nothing if the path leaves the chart. */
export function branchRanges(chart: SessionFileIndex, end: number): readonly ByteRange[] | undefined {
  const path: ByteRange[] = [];
  for (let to: number | undefined = end; to !== undefined;) {
    const at = findSegment(chart, to);
    if (!at) return undefined;
    path.push({ from: at.from, to });
    if (at.parentEnd === undefined && at.parent !== null) return undefined;
    to = at.parentEnd;
  }
  return path.toReversed();
}

/** The same path from its last self-contained epoch on; the whole of it if it has none; nothing if neither is charted. */
export function branchRangesFromEpoch(chart: SessionFileIndex, end: number): readonly ByteRange[] | undefined {
  const path: ByteRange[] = [];
  for (let to: number | undefined = end; to !== undefined;) {
    const at = findSegment(chart, to);
    if (!at) return undefined;
    const limit: number = to;
    const epoch = at.epochs.findLast((offset) => offset < limit);
    path.push({ from: epoch ?? at.from, to });
    if (epoch !== undefined) break;
    if (at.parentEnd === undefined && at.parent !== null) return undefined;
    to = at.parentEnd;
  }
  return path.toReversed();
}

const findSegment = (chart: SessionFileIndex, end: number): FileSegment | undefined =>
  chart.segments.findLast((stretch) => stretch.from < end && end <= stretch.to);
