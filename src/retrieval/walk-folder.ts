// Walks the files of a folder that may be indexed: follows no link, and skips what .gitignore ignores and what usually holds secrets.
import { lstatSync, readdirSync, readFileSync, type BigIntStats, type Dirent } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  isIgnoredPath,
  isSecretFile,
  parseIgnoreFile,
  skippedNames,
  type IgnoreRule,
  type StepCounter,
} from '../core/index.ts';
import { fileStamp } from './read-document.ts';

/** Max files of one index. */
export const defaultMaxFiles = 200_000;
const maxDepth = 100;
const maxIgnoreFileBytes = 1024 * 1024;
/** The event loop continues after this many entries. */
const entriesPerPause = 2000;

/** A file that was found, with its state. */
export type FoundFile = { readonly path: string; readonly size: number; readonly stamp: string };

/** Counts what a walk left out. */
export type WalkProblems = { secret: number; links: number; tooMany: boolean; unreadableFolders: number };

/** Yields the files below a real folder in name order, as paths relative to it. Throws if the folder itself cannot be read. */
export async function* walkFolder(
  root: string,
  {
    maxFiles,
    signal,
    problems,
  }: { readonly maxFiles: number; readonly signal: AbortSignal; readonly problems: WalkProblems },
): AsyncGenerator<FoundFile> {
  const counter: StepCounter = { steps: 0 };
  let found = 0;
  let seen = 0;
  const stack: { readonly folder: string; readonly rules: readonly IgnoreRule[]; readonly depth: number }[] = [
    { folder: '', rules: [], depth: 0 },
  ];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { folder, rules: parentRules, depth } = next;
    const entries = readFolder(folder);
    if (!entries) {
      problems.unreadableFolders += 1;
      continue;
    }
    const own = entries.some((each) => each.name === '.gitignore' && each.isFile())
      ? readIgnoreFile(folder)
      : undefined;
    const rules = own ? [...parentRules, own] : parentRules;
    const folders: string[] = [];
    for (const entry of entries) {
      seen += 1;
      if (seen % entriesPerPause === 0) await nextTurn();
      signal.throwIfAborted();
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (skippedNames.has(entry.name) || isIgnoredPath(name, entry.isDirectory(), rules)) continue;
      if (entry.isSymbolicLink()) problems.links += 1;
      else if (entry.isDirectory()) {
        // A folder such as .ssh. What is in other folders is checked by its own name, which is faster than by its path.
        if (isSecretFile(`${entry.name}/any`)) problems.secret += 1;
        else folders.push(name);
      } else if (entry.isFile()) {
        if (isSecretFile(entry.name)) {
          problems.secret += 1;
          continue;
        }
        const stats = readStats(name);
        if (!stats?.isFile()) continue;
        if (found >= maxFiles) {
          problems.tooMany = true;
          return;
        }
        found += 1;
        yield { path: name, size: Number(stats.size), stamp: fileStamp(stats) };
      }
    }
    if (depth < maxDepth)
      for (const each of folders.toReversed()) stack.push({ folder: each, rules, depth: depth + 1 });
  }

  function readStats(name: string): BigIntStats | undefined {
    try {
      return lstatSync(path.join(root, name), { bigint: true });
    } catch {
      return undefined;
    }
  }

  function readFolder(folder: string): readonly Dirent[] | undefined {
    try {
      return readdirSync(path.join(root, folder), { withFileTypes: true }).toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      );
    } catch (error) {
      if (folder === '') throw error;
      return undefined;
    }
  }

  function readIgnoreFile(folder: string): IgnoreRule | undefined {
    try {
      const file = path.join(root, folder, '.gitignore');
      if (lstatSync(file).size > maxIgnoreFileBytes) return undefined;
      return { base: folder, ignore: parseIgnoreFile(readFileSync(file, 'utf8'), counter) };
    } catch {
      return undefined;
    }
  }
}
