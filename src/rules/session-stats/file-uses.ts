// Detects which file an ended call read or changed, from its result or else from its name and arguments.
import { posix } from 'node:path';
import { isObject, type Event, type Json } from '../../core/index.ts';

/** How often a file was read and changed, and in which turn last; 0 for never. */
export type FileUse = {
  readonly reads: number;
  readonly edits: number;
  readonly writes: number;
  readonly readIn: number;
  readonly changedIn: number;
};

/** The counters of an unused file. */
export const unusedFile: FileUse = { reads: 0, edits: 0, writes: 0, readIn: 0, changedIn: 0 };

/** Normalizes a path, so that `./a` and `a` are one file. */
export const normalizePath = (path: string): string => posix.normalize(path).replace(/(?<=.)\/$/, '');

type FileAccess = { readonly path: string; readonly kind: 'reads' | 'edits' | 'writes' };

/** Returns what this call did to a file, if anything. */
export function detectFileAccess(
  { tool, input }: { readonly tool: string; readonly input: Json },
  { outcome, data }: Event & { readonly type: 'tool-ended' },
): FileAccess | undefined {
  if (outcome !== 'ok') return undefined;
  const resultData = isObject(data) ? data : {};
  const path = extractPath(resultData) ?? extractPath(input);
  if (path === undefined) return undefined;
  if ('after' in resultData) return { path, kind: /edit|patch|replace|insert/i.test(tool) ? 'edits' : 'writes' };
  if ('hash' in resultData) return { path, kind: 'reads' };
  const kind = accessByToolName(tool);
  return kind && { path, kind };
}

function accessByToolName(tool: string): FileAccess['kind'] | undefined {
  if (/read|view|open|cat\b/i.test(tool)) return 'reads';
  if (/edit|patch|replace|insert|append/i.test(tool)) return 'edits';
  return /write|create|save/i.test(tool) ? 'writes' : undefined;
}

/** Returns the path in arguments or a result. */
export function extractPath(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const path = value['path'] ?? value['file_path'] ?? value['filePath'] ?? value['file'];
  return typeof path === 'string' && path !== '' ? normalizePath(path) : undefined;
}

/** Counts one more use of a file. */
export const addFileUse = (use: FileUse, kind: FileAccess['kind'], turn: number): FileUse => ({
  ...use,
  [kind]: use[kind] + 1,
  ...(kind === 'reads' ? { readIn: turn } : { changedIn: turn }),
});
