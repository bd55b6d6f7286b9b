// The prefix index of a conversation directory: one append-only JSONL file.
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../core/index.ts';

/** The index entry of a conversation. */
export type IndexedConversation = {
  readonly id: string;
  /** A hash of the prefix up to each message of the caller. */
  readonly marks: readonly number[];
  /** The hash including the last response; absent before the first. */
  readonly tip?: number;
  /** By number of messages: the event after which the response was known. */
  readonly answers: ReadonlyMap<number, string>;
};

/** One line of the file: new hashes from an index on, or a response. */
type IndexLine = {
  readonly id: string;
  readonly from?: number;
  readonly marks?: readonly number[];
  readonly tip?: number;
  readonly at?: string;
};

/** An open prefix index. */
export type PrefixIndex = {
  readonly conversations: readonly IndexedConversation[];
  recordRequest(id: string, from: number, marks: readonly number[]): void;
  recordResponse(id: string, tip: number, at: string): void;
};

/** Max indexed conversations; an older one that continues is a new conversation. */
const maxIndexed = 2000;

/** Reads the index of a directory, least recently used first, and opens it for appends. */
export function openPrefixIndex(folder: string): PrefixIndex {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'marks.jsonl');
  const found = new Map<string, IndexedConversation>();
  for (const line of readIndexLines(file)) applyIndexLine(found, line);
  const beginnings = [...found.values()].slice(-maxIndexed);
  // Rewritten and renamed into place: the file would grow without bound otherwise.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, beginnings.map(formatIndexLines).join(''), { mode: 0o600 });
  renameSync(fresh, file);
  const write = (line: IndexLine): void => appendFileSync(file, `${JSON.stringify(line)}\n`);
  return {
    conversations: beginnings,
    recordRequest: (id, from, marks) => write({ id, from, marks: marks.slice(from) }),
    recordResponse: (id, tip, at) => write({ id, tip, at }),
  };
}

function readIndexLines(file: string): readonly IndexLine[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isObject(value) && typeof value['id'] === 'string' ? [value as unknown as IndexLine] : [];
    } catch {
      // An incomplete last line of a process that died; its content is recomputed.
      return [];
    }
  });
}

function applyIndexLine(found: Map<string, IndexedConversation>, { id, from, marks, tip, at }: IndexLine): void {
  const { marks: known, answers } = found.get(id) ?? { marks: [], answers: new Map<number, string>() };
  found.delete(id);
  if (from !== undefined && marks) {
    const now = [...known.slice(0, from), ...marks];
    found.set(id, { id, marks: now, answers: new Map([...answers].filter(([length]) => length < now.length)) });
  } else if (tip !== undefined && at !== undefined)
    found.set(id, { id, marks: known, tip, answers: new Map([...answers, [known.length, at]]) });
}

/** Formats an entry as index lines. */
function formatIndexLines({ id, marks, tip, answers }: IndexedConversation): string {
  const lines: IndexLine[] = [];
  let from = 0;
  for (const [length, at] of answers) {
    lines.push({ id, from, marks: marks.slice(from, length) }, { id, tip: tip ?? 0, at });
    from = length;
  }
  if (from < marks.length || tip === undefined) lines.push({ id, from, marks: marks.slice(from) });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
