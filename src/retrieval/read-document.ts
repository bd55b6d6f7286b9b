// Reads one file of an indexed folder: within bounds, not through a link that leaves the folder, and complete even if it changes meanwhile.
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type BigIntStats } from 'node:fs';
import path from 'node:path';
import { isPathInside, systemErrorCode } from '../core/index.ts';
import { extensionOf, readText, splitDocument, type ReadableText } from './split/split-document.ts';
import { splitText } from './split/split-text.ts';
import type { FilePassages, IndexedFile, Passage } from './types.ts';

/** Max bytes of a file that is indexed. */
export const defaultMaxFileBytes: number = 4 * 1024 * 1024;
/** Max bytes of a PDF, or of a file of records, which have little text per byte or are read on purpose. */
export const maxDocumentBytes: number = 256 * 1024 * 1024;
const binarySampleBytes = 8192;
const maxReads = 3;

/** Why a file has no passages. */
export type SkipReason =
  | 'too large'
  | 'binary'
  | 'secret'
  | 'outside'
  | 'changing'
  | 'unreadable'
  | 'not a readable PDF';

/** The result of reading a file: its passages, the reason why there are none, or that there is no file. */
export type ReadResult =
  | { readonly type: 'read'; readonly file: FilePassages }
  /** It has the known content. */
  | { readonly type: 'same'; readonly file: IndexedFile }
  | { readonly type: 'skipped'; readonly reason: SkipReason; readonly file?: IndexedFile }
  | { readonly type: 'missing' };

/** Options of `readDocument`. */
export type ReadOptions = {
  readonly maxFileBytes: number;
  /** The hash of the content that is indexed: a file that has it is not split again. */
  readonly knownHash?: string | undefined;
};

/** The stamp of a file: changes with its content, even if the modification time is set back. */
export const fileStamp = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].map((value) => value.toString(36)).join('.');

/** Ends a stamp that a later change may not alter. */
export const uncertainMark = '~';

/** How long after a change a file may change again within the resolution of its time stamp. */
const sameTickMs = 2500;

/** The stamp to store. One that is so young that a later change may not alter it matches nothing, so that the content is compared. */
const storedStamp = (stats: BigIntStats): string =>
  Date.now() - Number(stats.ctimeMs) < sameTickMs ? `${fileStamp(stats)}${uncertainMark}` : fileStamp(stats);

/** Reads the file at a path relative to a real folder, and splits it into passages. */
export async function readDocument(
  root: string,
  name: string,
  { maxFileBytes, knownHash }: ReadOptions,
): Promise<ReadResult> {
  const full = path.join(root, name);
  const isDocument = /^(?:pdf|jsonl|ndjson)$/.test(extensionOf(name));
  const content = readStableFile(root, full, isDocument ? maxDocumentBytes : maxFileBytes);
  if (content.type === 'skipped' && content.file) return { ...content, file: { ...content.file, path: name } };
  if (content.type !== 'content') return content;
  const file: IndexedFile = { path: name, ...content.file };
  const { bytes } = content;
  if (file.hash === knownHash) return { type: 'same', file };
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') {
    try {
      const { extractPdfPages } = await import('./pdf.ts');
      return { type: 'read', file: { ...file, passages: splitPages(await extractPdfPages(bytes)) } };
    } catch {
      return { type: 'skipped', reason: 'not a readable PDF', file };
    }
  }
  const text = decodeText(bytes);
  if (text === undefined) return { type: 'skipped', reason: 'binary', file };
  return { type: 'read', file: { ...file, passages: splitDocument(name, text) } };
}

/** Max bytes of a document that is read as a whole, and of a PDF. */
const maxWholeBytes = 2 * 1024 * 1024;
const maxWholePdfBytes = 32 * 1024 * 1024;

/** Reads the readable text of a whole document; undefined if it does not have the known content, is too large, or is no text. */
export async function readWholeText(root: string, name: string, knownHash: string): Promise<ReadableText | undefined> {
  const isPdf = extensionOf(name) === 'pdf';
  const content = readStableFile(root, path.join(root, name), isPdf ? maxWholePdfBytes : maxWholeBytes);
  if (content.type !== 'content' || content.file.hash !== knownHash) return undefined;
  const { bytes } = content;
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') {
    try {
      const { extractPdfPages } = await import('./pdf.ts');
      const text = (await extractPdfPages(bytes)).join('\n');
      return text.length > maxWholeBytes ? undefined : { text, title: '' };
    } catch {
      return undefined;
    }
  }
  const text = decodeText(bytes);
  return text === undefined ? undefined : readText(name, text);
}

function splitPages(pages: readonly string[]): readonly Passage[] {
  const passages: Passage[] = [];
  let lines = 0;
  for (const [i, text] of pages.entries()) {
    for (const each of splitText(text, `page ${i + 1}`))
      passages.push({ ...each, lines: [each.lines[0] + lines, each.lines[1] + lines], page: i + 1 });
    lines += text.split('\n').length;
  }
  return passages;
}

type StableContent =
  | { readonly type: 'content'; readonly bytes: Buffer; readonly file: Omit<IndexedFile, 'path'> }
  | Extract<ReadResult, { readonly type: 'skipped' | 'missing' }>;

/** Reads all bytes of a regular file; again if it changed meanwhile, and not at all if it keeps changing. */
function readStableFile(root: string, full: string, maxBytes: number): StableContent {
  let fd: number;
  try {
    // The last part of the path must not be a link, and no folder on the way may lead outside.
    fd = openSync(full, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    return /^(?:ENOENT|ENOTDIR)$/.test(systemErrorCode(error) ?? '')
      ? { type: 'missing' }
      : { type: 'skipped', reason: systemErrorCode(error) === 'ELOOP' ? 'outside' : 'unreadable' };
  }
  try {
    if (!isPathInside(root, realpathSync.native(full))) return { type: 'skipped', reason: 'outside' };
    for (let attempt = 0; attempt < maxReads; attempt += 1) {
      const before = fstatSync(fd, { bigint: true });
      if (!before.isFile()) return { type: 'skipped', reason: 'unreadable' };
      const size = Number(before.size);
      const known = { size, stamp: storedStamp(before) };
      if (size > maxBytes) return { type: 'skipped', reason: 'too large', file: { path: '', ...known, hash: '' } };
      const bytes = Buffer.allocUnsafe(size);
      let length = 0;
      while (length < size) {
        const count = readSync(fd, bytes, length, size - length, length);
        if (count === 0) break;
        length += count;
      }
      if (length !== size || fileStamp(fstatSync(fd, { bigint: true })) !== fileStamp(before)) continue;
      return { type: 'content', bytes, file: { ...known, hash: hash('sha256', bytes) } };
    }
    return { type: 'skipped', reason: 'changing' };
  } catch {
    return { type: 'skipped', reason: 'unreadable' };
  } finally {
    closeSync(fd);
  }
}

/** The text of bytes in UTF-8, or in UTF-16 with a byte order mark; undefined if they are binary. */
function decodeText(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString('utf16le');
  if (bytes.subarray(0, binarySampleBytes).includes(0)) return undefined;
  const text = bytes.toString('utf8');
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return plain.includes('\0') ? plain.replaceAll('\0', ' ') : plain;
}
