// What a folder of conversations remembers of their beginnings, in one append-only file of readable lines.
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../core/index.ts';

/** A conversation as far as it has to be recognised. */
export type IndexedConversation = {
  readonly id: string;
  /** A mark of everything up to each of the caller's messages. */
  readonly marks: readonly number[];
  /** The mark with the answer that the caller was given last; none while it has none. */
  readonly tip?: number;
  /** The answers to the first so many messages: the event after which each of them was known. */
  readonly answers: ReadonlyMap<number, string>;
};

/** One line: from which message on the marks are new, or what was answered. */
type IndexLine = {
  readonly id: string;
  readonly from?: number;
  readonly marks?: readonly number[];
  readonly tip?: number;
  readonly at?: string;
};

/** A file of beginnings. */
export type PrefixIndex = {
  readonly conversations: readonly IndexedConversation[];
  recordRequest(id: string, from: number, marks: readonly number[]): void;
  recordResponse(id: string, tip: number, at: string): void;
};

/** Of so many conversations the beginnings are kept; older ones are begun anew if they ever go on. */
const maxIndexed = 2000;

/** Reads the file of a folder, in the order in which the conversations last went on, and writes on in it. */
export function openPrefixIndex(folder: string): PrefixIndex {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'marks.jsonl');
  const found = new Map<string, IndexedConversation>();
  for (const line of readIndexLines(file)) applyIndexLine(found, line);
  const beginnings = [...found.values()].slice(-maxIndexed);
  // Written anew and swapped in: what was replaced line by line would grow for ever.
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
      // The last line of a process that died; what it would have said is found out again.
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

/** A beginning as the lines that make it up. */
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
