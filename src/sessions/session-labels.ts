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
export function readSessionLabels(file: string): SessionLabels {
  try {
    const fd = openSync(file, 'r');
    try {
      return combineLabels(
        findLastLine(fd, `"type":"annotation-added","key":"${sessionLabelsKey}"`),
        findLastLine(fd, '"type":"epoch-started"'),
      );
    } finally {
      closeSync(fd);
    }
  } catch {
    return {};
  }
}

/** The model that a session used last, as `provider/model`; undefined in files of older versions. The session used it, so the user has chosen it before. */
export function readSessionModel(file: string): string | undefined {
  try {
    const fd = openSync(file, 'r');
    try {
      const epoch = findLastLine(fd, '"modelProvider":"');
      return epoch?.type === 'epoch-started' && epoch.modelProvider !== undefined
        ? `${epoch.modelProvider}/${epoch.model}`
        : undefined;
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

const hasFolder = (event: Event): boolean => event.type === 'epoch-started' && event.cwd !== undefined;

/** The last line of a file with this text, parsed. In the JSON of a message the quotes are escaped, so a message cannot contain the text. */
function findLastLine(fd: number, text: string): Event | undefined {
  const { size } = fstatSync(fd);
  const wanted = Buffer.from(text);
  const first = Math.max(0, size - maxSearchedBytes);
  for (let end = size; end > first; end -= chunkBytes) {
    const start = Math.max(first, end - chunkBytes);
    // Chunks overlap by the length of the text.
    const chunk = readBytes(fd, start, Math.min(size, end + wanted.length) - start);
    const at = chunk.lastIndexOf(wanted);
    if (at >= 0) return parseLineAt(fd, start + at, size);
  }
  return undefined;
}

const maxLineBytes = 8 * 1024 * 1024;

function parseLineAt(fd: number, at: number, size: number): Event | undefined {
  const from = Math.max(0, at - 1024);
  const before = readBytes(fd, from, at - from);
  const start = from + before.lastIndexOf(0x0a) + 1;
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
