// Maps session names to file names that are safe on every system, and back.
import { FairleadError, normalizeUnicode } from '../core/index.ts';

const filePrefix = 'session_';
const fileSuffix = '.jsonl';
/** Side files and locks extend the file name, and most systems allow 255 bytes. */
const maxNameBytes = 150;

/** Normalizes a name: trimmed, NFC, well formed. Throws if it is empty or too long. */
export function normalizeSessionName(name: string): string {
  const normalized = normalizeUnicode(name.toWellFormed(), 'NFC').trim();
  if (normalized === '')
    throw new FairleadError('session/bad-name', 'A session needs a name that is not empty.', {
      blame: 'user',
      hint: 'Leave the name away to have the date and time as its name.',
    });
  const bytes = Buffer.byteLength(encodeName(normalized));
  if (bytes > maxNameBytes)
    throw new FairleadError(
      'session/bad-name',
      `The session name is too long for a file: it takes ${bytes} bytes of at most ${maxNameBytes}.`,
      { blame: 'user', hint: 'Give it a shorter name.' },
    );
  return normalized;
}

/** Returns the file name of a session name: it cannot leave the directory or match a side file of another session. */
export const toSessionFileName = (name: string): string =>
  `${filePrefix}${encodeName(normalizeSessionName(name))}${fileSuffix}`;

/** Returns the session name of a file name; undefined if it is not a session file. */
export function parseSessionFileName(fileName: string): string | undefined {
  if (
    !fileName.startsWith(filePrefix) ||
    !fileName.endsWith(fileSuffix) ||
    fileName.length <= filePrefix.length + fileSuffix.length
  )
    return undefined;
  const inner = fileName.slice(filePrefix.length, -fileSuffix.length);
  // A file that the user named by hand may contain a literal percent sign.
  const name = normalizeUnicode(
    inner.replaceAll(/(?:%[\dA-F]{2})+/gi, (bytes) => decodePercent(bytes)),
    'NFC',
  );
  return name.trim() === '' ? undefined : name;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Escaped: control and direction characters, characters with a meaning in paths or on Windows, the percent sign, and a dot before our extension. A prefix handles leading dots and reserved names. */
const unsafeCharacters = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069<>:"/\\|?*%]|\.(?=jsonl)/giu;

const encodeName = (name: string): string =>
  name.replaceAll(unsafeCharacters, (character) =>
    [...Buffer.from(character)].map((byte) => `%${toHex(byte)}`).join(''),
  );

const toHex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0');

/** Formats a local date and time as a name valid on every file system: `2026-01-31_23-59-59`. */
export function formatDateName(now: Date): string {
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  const date = [now.getFullYear(), padTwo(now.getMonth() + 1), padTwo(now.getDate())].join('-');
  return `${date}_${[now.getHours(), now.getMinutes(), now.getSeconds()].map(padTwo).join('-')}`;
}

/** Whether a name is a date and time, or a copy of such a session: no name that the user chose. */
export const isDateName = (name: string): boolean =>
  /^\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(?:-\d+|-clone|-fork)*$/.test(name);

/** Returns the name if it is free, otherwise the first free one of `name-2`, `name-3` and so on. */
export function findFreeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let n = 2; ; n++) if (!isTaken(`${name}-${n}`)) return `${name}-${n}`;
}
