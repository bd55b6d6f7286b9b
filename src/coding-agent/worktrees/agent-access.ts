// What an agent uses outside its worktree: the instruction files of the checkout that count, and the files that a rule linked.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { findWorktreeId, getWorktreesFolder, readRecord } from './records.ts';

/** What an agent in a worktree uses outside of it. */
export type WorktreeAccess = {
  /** The folder of the checkout that corresponds to its own: whose instruction files count, since the agent cannot write them. */
  readonly projectFolder: string;
  /** What its commands may read besides: the targets of links that a rule made; real paths. */
  readonly readable: readonly string[];
};

/** Returns what an agent in this folder uses outside of it; undefined if the folder is in no worktree. A real path. */
export function findWorktreeAccess(stateFolder: string, cwd: string): WorktreeAccess | undefined {
  const wanted = getWorktreesFolder(stateFolder);
  if (!existsSync(wanted)) return undefined;
  const folder = realpathSync(wanted);
  const id = findWorktreeId(folder, cwd);
  const record = id === undefined ? undefined : readRecord(folder, id);
  if (record === undefined) return undefined;
  const project = path.join(record.checkout, path.relative(record.path, cwd));
  // The link in the worktree could lead elsewhere by now; the record cannot.
  const links = record.ignoredFiles.flatMap(({ path: file, how }) =>
    how === 'link' ? [path.join(record.checkout, file)] : [],
  );
  return {
    projectFolder: existsSync(project) ? project : record.checkout,
    readable: links
      .filter((each) => existsSync(each))
      .map((each) => realpathSync(each))
      // A command in the checkout could have replaced it by a link that leads elsewhere.
      .filter((each) => isPathInside(record.checkout, each)),
  };
}
