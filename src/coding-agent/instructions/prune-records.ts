// Deletes records of instruction texts: those of directories that no longer exist, then the oldest.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

/** Deletes records until at most three quarters of `maxRecords` are left. Records of existing directories go last. */
export function pruneRecords(dir: string, maxRecords: number): void {
  const all = readdirSync(dir).flatMap((name) => {
    const file = path.join(dir, name);
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats ? [{ file, time: stats.mtimeMs, isUsed: hasFolder(file) }] : [];
  });
  const excess = all.length - Math.floor(maxRecords * 0.75);
  const oldestFirst = all.toSorted((a, b) => Number(a.isUsed) - Number(b.isUsed) || a.time - b.time);
  for (const { file } of oldestFirst.slice(0, Math.max(0, excess))) rmSync(file, { force: true });
}

function hasFolder(file: string): boolean {
  try {
    return existsSync(String((JSON.parse(readFileSync(file, 'utf8')) as { readonly folder?: unknown }).folder));
  } catch {
    return false;
  }
}
