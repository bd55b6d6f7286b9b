// Searches the titles and messages of session files for words, this folder first, without an index and in bounded memory.
import { closeSync, openSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventLineTexts } from '../core/index.ts';
import { listSessions, sortByFolder, type SessionDirs, type SessionSummary } from './session-directory.ts';

/** A session that contains all words, and a part of its text around one of them. */
export type SessionMatch = SessionSummary & { readonly excerpt: string };

/** Where to search, and for how long. */
export type SearchOptions = {
  /** The sessions of this folder are searched first. */
  readonly folder: string;
  /** Max matches; the search stops after them. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
};

const defaultLimit = 50;
const chunkBytes = 1024 * 1024;
/** Max bytes of one file that are searched, from its end: the latest messages. */
const maxFileBytes = 64 * 1024 * 1024;

/** Yields the sessions whose title and messages contain all words, in any case: those of the folder first, then the others, each the latest first. */
export async function* searchSessions(
  dirs: SessionDirs,
  query: string,
  { folder, limit = defaultLimit, signal }: SearchOptions,
): AsyncGenerator<SessionMatch> {
  const words = query.split(/\s+/).filter(Boolean);
  if (words.length === 0) return;
  const { own, others } = sortByFolder(listSessions(dirs), folder);
  let found = 0;
  for (const summary of [...own, ...others]) {
    // A terminal stays responsive between two files.
    await nextTurn();
    if (signal?.aborted || found >= limit) return;
    const excerpt = findExcerpt(summary, words);
    if (excerpt === undefined) continue;
    found += 1;
    yield { ...summary, excerpt };
  }
}

/** A part of the session around one of the words; undefined if a word is missing. */
function findExcerpt({ file, title, name, first, size }: SessionSummary, words: readonly string[]): string | undefined {
  const patterns = words.map((word) => new RegExp(escapePattern(word), 'iu'));
  const missing = new Set(patterns);
  let excerpt: string | undefined;
  const look = (text: string): void => {
    for (const pattern of missing) {
      const match = pattern.exec(text);
      if (!match) continue;
      missing.delete(pattern);
      excerpt ??= cutAround(text, match.index, match[0].length);
    }
  };
  // A word of the title is found, and the excerpt still shows a message if there is one with a word.
  try {
    for (const text of readMessageTexts(file, size, words)) {
      look(text);
      if (missing.size === 0) break;
    }
  } catch {
    // A file that vanished, or cannot be read, has only its title.
  }
  for (const text of [title, name]) look(text);
  return missing.size === 0 ? (excerpt ?? first ?? title) : undefined;
}

const escapePattern = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

const excerptChars = 80;

function cutAround(text: string, at: number, length: number): string {
  const start = Math.max(0, at - Math.floor((excerptChars - length) / 3));
  const end = Math.min(text.length, start + excerptChars);
  const part = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`;
}

/** The types of events whose texts are searched: not the system prompt and the tools, which are the same in all sessions. */
const messageEvent = /"type":"(?:input-received|turn-ended|tool-ended)"/;

/** Yields the texts of the messages in the lines that may contain one of the words. */
function* readMessageTexts(file: string, size: number, words: readonly string[]): Generator<string> {
  // A quote or a backslash is escaped in the JSON of a line: then every line is parsed.
  const filter = words.some((word) => /["\\]/.test(word)) ? /^/ : new RegExp(words.map(escapePattern).join('|'), 'iu');
  for (const line of readLinesFrom(file, Math.max(0, size - maxFileBytes)))
    if (messageEvent.test(line.slice(0, 400)) && filter.test(line)) yield* eventLineTexts(line);
}

/** The lines of a file from a position on, one chunk in memory at a time; a line that is longer than the maximum is skipped. */
function* readLinesFrom(file: string, from: number): Generator<string> {
  const fd = openSync(file, 'r');
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let rest: Buffer[] = [];
    let restBytes = 0;
    for (let position = from; ;) {
      const length = readSync(fd, chunk, 0, chunkBytes, position);
      if (length === 0) break;
      position += length;
      const bytes = chunk.subarray(0, length);
      const end = bytes.lastIndexOf(0x0a);
      if (end < 0) {
        if ((restBytes += length) <= maxLineBytes) rest.push(Buffer.from(bytes));
        continue;
      }
      yield* Buffer.concat([...rest, bytes.subarray(0, end)])
        .toString()
        .split('\n');
      rest = [Buffer.from(bytes.subarray(end + 1))];
      restBytes = length - end - 1;
    }
    if (restBytes > 0) yield Buffer.concat(rest).toString();
  } finally {
    closeSync(fd);
  }
}

const maxLineBytes = 8 * 1024 * 1024;
