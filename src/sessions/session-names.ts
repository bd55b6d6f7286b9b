// Session names: free text on one side, a file name that is safe on every system on the other, and back again.
import { FairleadError } from '../core/index.ts';

const filePrefix = 'session_';
const fileSuffix = '.jsonl';
/** Side files of a session and their locks add to its file's name, and most systems allow 255 bytes. */
const maxNameBytes = 150;

/** The name as it is kept: without white space at its ends, composed, well formed. Empty and far too long ones are refused. */
export function normalizeSessionName(name: string): string {
  const tidy = name.toWellFormed().normalize('NFC').trim();
  if (tidy === '')
    throw new FairleadError('session/bad-name', 'A session needs a name that is not empty.', {
      blame: 'user',
      hint: 'Leave the name away to have the date and time as its name.',
    });
  const bytes = Buffer.byteLength(encodeName(tidy));
  if (bytes > maxNameBytes)
    throw new FairleadError(
      'session/bad-name',
      `The session name is too long for a file: it takes ${bytes} bytes of at most ${maxNameBytes}.`,
      { blame: 'user', hint: 'Give it a shorter name.' },
    );
  return tidy;
}

/** The file name for a session's name: nothing in it can leave the folder or pass for a side file of another session. */
export const toSessionFileName = (name: string): string =>
  `${filePrefix}${encodeName(normalizeSessionName(name))}${fileSuffix}`;

/** The session's name that a file name stands for; nothing if it is no session's. */
export function parseSessionFileName(fileName: string): string | undefined {
  if (
    !fileName.startsWith(filePrefix) ||
    !fileName.endsWith(fileSuffix) ||
    fileName.length <= filePrefix.length + fileSuffix.length
  )
    return undefined;
  const inner = fileName.slice(filePrefix.length, -fileSuffix.length);
  // A file that a person named by hand may hold a percent sign that means itself.
  const name = inner.replaceAll(/(?:%[\dA-F]{2})+/gi, (bytes) => decodePercent(bytes)).normalize('NFC');
  return name.trim() === '' ? undefined : name;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Control and direction characters, what Windows or a path gives a meaning, the percent sign itself, and a dot that would begin our own ending. The prefix sees to leading dots and reserved names. */
const unsafeCharacters = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069<>:"/\\|?*%]|\.(?=jsonl)/giu;

const encodeName = (name: string): string =>
  name.replaceAll(unsafeCharacters, (found) => [...Buffer.from(found)].map((byte) => `%${toHex(byte)}`).join(''));

const toHex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0');

/** A date and time as a name that every file system takes: `2026-01-31_23-59-59`, in local time. */
export function formatDateName(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
  return `${date}_${[now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('-')}`;
}

/** The name itself if it is free, else the first of `name-2`, `name-3` and so on that is. */
export function findFreeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let n = 2; ; n++) if (!isTaken(`${name}-${n}`)) return `${name}-${n}`;
}
