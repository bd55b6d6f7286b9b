// The title and the folder of a session. Both are in the session file: the folder in its epochs, and both in an annotation if the user chose a title or the session moved.
import { closeSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isObject, sessionLabelsKey, type Event, type Json } from '../core/index.ts';
import type { SessionPeek } from '../stores/jsonl/index.ts';
import { previewText } from './reports/branch-path.ts';
import { isDateName } from './session-names.ts';

/** What a session file says of itself besides its messages. */
export type SessionLabels = {
  /** The title that the user or a model chose; absent if the session has its name or first message as its title. */
  readonly title?: string;
  /** The folder that the session works in; absent in files of older versions. */
  readonly folder?: string;
};

/** The labels near the ends of a file: quick, for lists. `closeSession` writes the labels again if they are not near the end. */
export function peekLabels(preview: SessionPeek): SessionLabels {
  const labels = preview.lastWanted('annotation-added', isLabelsEvent);
  const epoch = preview.lastWanted('epoch-started', hasFolder);
  return combineLabels(labels, epoch);
}

/** How much of a file is searched for its labels, from the end. */
const maxSearchedBytes = 64 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

/** The labels in the whole file; for one file. */
export const readSessionLabels = (file: string): SessionLabels =>
  withOpenFile(file, (fd) =>
    combineLabels(
      findLastEvent(fd, `"type":"annotation-added","key":"${sessionLabelsKey}"`, isLabelsEvent),
      findLastEvent(fd, '"type":"epoch-started"', isEpoch),
    ),
  ) ?? {};

/** The model that a session used last. The session used it, so the user has chosen it before. */
export type SessionModel = {
  /** Its name, as `provider/model`. */
  readonly name: string;
  /** The host that its provider was at; absent if it ran in the process. */
  readonly host?: string;
};

/** The model that a session used last; undefined in files of older versions. */
export const readSessionModel = (file: string): SessionModel | undefined =>
  withOpenFile(file, (fd) => {
    const epoch = findLastEvent(fd, '"type":"epoch-started"', isEpoch);
    if (epoch?.type !== 'epoch-started' || epoch.modelProvider === undefined) return undefined;
    const { modelProvider, modelName = epoch.model, modelHost: host } = epoch;
    return { name: `${modelProvider}/${modelName}`, ...(host === undefined ? {} : { host }) };
  });

/** Reads from a file; undefined if it cannot be read. */
function withOpenFile<T>(file: string, read: (fd: number) => T): T | undefined {
  try {
    const fd = openSync(file, 'r');
    try {
      return read(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function combineLabels(labels: Event | undefined, epoch: Event | undefined): SessionLabels {
  const value = labels?.type === 'annotation-added' && isObject(labels.value) ? labels.value : {};
  const { title, folder: labelled } = value;
  const moved = epoch?.type === 'epoch-started' && epoch.seq > (labels?.seq ?? 0) ? epoch.cwd : undefined;
  const started = epoch?.type === 'epoch-started' ? epoch.cwd : undefined;
  const folder = moved ?? (typeof labelled === 'string' ? labelled : started);
  return {
    ...(typeof title === 'string' && title !== '' ? { title } : {}),
    ...(folder === undefined ? {} : { folder }),
  };
}

const isLabelsEvent = (event: Event): boolean => event.type === 'annotation-added' && event.key === sessionLabelsKey;

const isEpoch = (event: Event): boolean => event.type === 'epoch-started';

const hasFolder = (event: Event): boolean => event.type === 'epoch-started' && event.cwd !== undefined;

/** The last wanted event of a file whose line contains this text. The input of a tool call can contain the text too, and the last line can be incomplete: the search continues before such a line. */
function findLastEvent(fd: number, text: string, isWanted: (event: Event) => boolean): Event | undefined {
  const { size } = fstatSync(fd);
  const wanted = Buffer.from(text);
  const first = Math.max(0, size - maxSearchedBytes);
  // Text at or after this position is of a line that was examined.
  let before = size;
  for (let end = size; end > first; end -= chunkBytes) {
    const start = Math.max(first, end - chunkBytes);
    // Chunks overlap by the length of the text.
    const chunk = readBytes(fd, start, Math.min(size, end + wanted.length) - start);
    while (before > start) {
      const at = chunk.lastIndexOf(wanted, before - start - 1);
      if (at < 0) break;
      const lineStart = findLineStart(fd, start + at);
      const event = parseLineAt(fd, lineStart, size);
      if (event && isWanted(event)) return event;
      before = lineStart;
    }
  }
  return undefined;
}

const maxLineBytes = 8 * 1024 * 1024;

/** The position of the start of the line that a position is in; at most the max length of a line before it. */
function findLineStart(fd: number, at: number): number {
  for (let end = at; end > 0 && at - end < maxLineBytes;) {
    const from = Math.max(0, end - 64 * 1024);
    const newline = readBytes(fd, from, end - from).lastIndexOf(0x0a);
    if (newline >= 0) return from + newline + 1;
    end = from;
    if (from === 0) return 0;
  }
  return Math.max(0, at - maxLineBytes);
}

function parseLineAt(fd: number, start: number, size: number): Event | undefined {
  const rest = readBytes(fd, start, Math.min(size - start, maxLineBytes));
  const end = rest.indexOf(0x0a);
  try {
    return JSON.parse(rest.toString('utf8', 0, end < 0 ? rest.length : end)) as Event;
  } catch {
    return undefined;
  }
}

function readBytes(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

/** The annotation that records these labels. */
export const toLabelsValue = ({ title, folder }: SessionLabels): Json => ({ title: title ?? '', folder: folder ?? '' });

const maxTitleChars = 80;

/** The title of a session: the one that was chosen, the name if the user gave one, the first message, or the name. */
export function getSessionTitle({
  name,
  title,
  first,
}: {
  readonly name: string;
  readonly title?: string | undefined;
  readonly first?: string | undefined;
}): string {
  if (title !== undefined) return title;
  return isDateName(name) ? previewText(first ?? '', maxTitleChars) || name : name;
}

/** The one-line form of a title; undefined if nothing is left of it. */
export const normalizeTitle = (title: string): string | undefined =>
  previewText(title.toWellFormed(), 200) || undefined;

/** Whether two paths are the same folder, also through links. */
export function isSameFolder(a: string, b: string): boolean {
  return path.resolve(a) === path.resolve(b) || toRealPath(a) === toRealPath(b);
}

function toRealPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder);
  }
}
