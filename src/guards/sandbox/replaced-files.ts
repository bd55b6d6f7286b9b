// Decides what happens with a protected file that another program replaced while a command ran: for a moment the command could write it. What configures git is restored unless the change is harmless.
import { mkdirSync, openSync, closeSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine } from '../../core/index.ts';
import { isHarmlessConfigLine, isHarmlessGitDirectory } from './git-configuration.ts';
import type { MountedFile } from './mounted-files.ts';
import { moveAside } from './move-aside.ts';
import { isEmptyDirectory, listNames, lstatIfVisible, readSmallFile, withOpenFolder } from './open-folder.ts';
import { findRootOf } from './protected-links.ts';

/** Returns what the user has to know about a replaced path, after it was restored if that was necessary; undefined if there is nothing to check. */
export function settleReplaced(
  file: MountedFile,
  { roots, quarantine }: { readonly roots: readonly string[]; readonly quarantine?: string | undefined },
): string | undefined {
  const { location, role, isGit } = file;
  const name = escapeInvisibleLine(location);
  const replaced = `${name} was replaced by another program while a command was running, and for a moment the sandbox did not protect it`;
  if (role === 'hidden') return `${replaced}: the command could read it.`;
  if (role === 'folder' || lstatIfVisible(location) === undefined) return undefined;
  if (!isGit) return `${replaced}: check whether it contains text of the command.`;
  const root = findRootOf(roots, location) ?? path.dirname(location);
  const finding = inspectGitControl(file);
  if (finding === 'unchanged') return undefined;
  if (finding.isHarmless) return `${replaced}. Lines were added that run no program; check them: ${finding.shown}`;
  const movedTo = restore(file, root, quarantine);
  const what = finding.shown === '' ? '' : ` It had these new lines: ${finding.shown}`;
  return movedTo === undefined
    ? `${replaced}. It could not be restored: check it before you use git in this folder.${what}`
    : `${replaced}. Git runs programs that it names, so it was moved to ${escapeInvisibleLine(movedTo)}${file.before ? ', and the earlier content was restored' : ''}. If the change is yours, make it again while no command runs.${what}`;
}

type Finding = 'unchanged' | { readonly isHarmless: boolean; readonly shown: string };

const maxControlBytes = 262_144;

function inspectGitControl({ location, before }: MountedFile): Finding {
  const found = lstatIfVisible(location);
  if (found?.isDirectory()) return isHarmlessFolder(location) ? 'unchanged' : { isHarmless: false, shown: '' };
  const text = readSmallFile(location, maxControlBytes);
  if (text === undefined || before === undefined) return { isHarmless: false, shown: '' };
  const added = findAddedLines(before.text, text);
  if (added.length === 0) return 'unchanged';
  const isConfig = ['config', 'config.worktree'].includes(path.basename(location));
  return { isHarmless: isConfig && added.every(isHarmlessConfigLine), shown: formatLines(added) };
}

/** A folder of a git directory is harmless if git runs nothing because of it. */
function isHarmlessFolder(folder: string): boolean {
  if (isEmptyDirectory(folder)) return true;
  const names = listNames(folder);
  switch (path.basename(folder)) {
    case 'hooks':
      return names.every((name) => name.endsWith('.sample'));
    case 'info':
      return !names.includes('attributes');
    default:
      return isHarmlessGitDirectory(folder);
  }
}

/** Returns the lines that are not lines of the earlier text in its order. A line that moved counts as added, because the section before it decides what it means. */
function findAddedLines(before: string, after: string): readonly string[] {
  const known = before.split('\n');
  let next = 0;
  return after.split('\n').filter((line) => {
    if (line.trim() === '') return false;
    const at = known.indexOf(line, next);
    if (at === -1) return true;
    next = at + 1;
    return false;
  });
}

const [maxShownLines, maxShownChars] = [8, 120];

const formatLines = (lines: readonly string[]): string =>
  lines
    .slice(0, maxShownLines)
    .map((line) => `\`${escapeInvisibleLine(line.trim()).slice(0, maxShownChars)}\``)
    .join(', ') + (lines.length > maxShownLines ? `, and ${lines.length - maxShownLines} more` : '');

const maxRounds = 3;

/** Moves the present file away and writes the earlier content, under the lock of git, so that git of the user does not write back what it read before. Returns where it was moved. */
function restore({ location, before }: MountedFile, root: string, trash: string | undefined): string | undefined {
  const name = path.basename(location);
  const unlock = lockGitFile(location);
  try {
    for (let round = 0; round < maxRounds; round++) {
      const movedTo = moveAside({ root, location, linkTarget: undefined }, trash);
      if (movedTo === undefined) return undefined;
      try {
        withOpenFolder(root, path.dirname(location), (at) => {
          if (before) writeFileSync(path.join(at, name), before.text, { flag: 'wx', mode: before.mode });
          else mkdirSync(path.join(at, name));
        });
        return movedTo;
      } catch {
        // A command that is ending created it again.
      }
    }
    return undefined;
  } finally {
    unlock();
  }
}

const [lockRoundMs, maxLockRounds] = [5, 20];

/** Takes the lock of git on a file. A lock that stays may be of the command, so it is waited for a short time only. */
function lockGitFile(location: string): () => void {
  const lock = `${location}.lock`;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; round < maxLockRounds; round++) {
    try {
      closeSync(openSync(lock, 'wx'));
      return () => {
        try {
          unlinkSync(lock);
        } catch {
          // It was removed.
        }
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') break;
      Atomics.wait(pause, 0, 0, lockRoundMs);
    }
  }
  return () => {};
}
