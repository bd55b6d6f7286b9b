// A forkable workspace on a folder: each fork is a copy in a temporary folder, in which files are written and removed. Commands, the network and links out of the folder are refused.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { errorMessage, isObject, normalizeFileName, type Workspace } from '../../../core/index.ts';
import { localWorkspace, protectedNames } from '../../../workspace/index.ts';
import { assertWhole, badOptionError, effectError } from '../errors.ts';
import type { ForkableWorkspace, ParsedAction } from './forkable-workspace.ts';

/** A change of one file. Paths are relative to the folder. */
export type FileAction =
  | { readonly type: 'write'; readonly path: string; readonly text: string }
  | { readonly type: 'replace'; readonly path: string; readonly old: string; readonly new: string }
  | { readonly type: 'remove'; readonly path: string };

/** Options of createFolderWorkspace. */
export type FolderWorkspaceOptions = {
  readonly folder: string;
  /** Names that are not copied, in any folder and in upper and lower case; `.git` by default. */
  readonly exclude?: readonly string[];
  /** Files that a fork may have; 5,000 by default. */
  readonly maxFiles?: number;
  /** Bytes that a fork may have; 100 MB by default. */
  readonly maxBytes?: number;
  /** Where forks are created; the folder for temporary files by default. */
  readonly tempFolder?: string;
};

/** A workspace on a folder. A check may read `folder`, and run a program in it at its own risk. */
export interface FolderWorkspace extends ForkableWorkspace<FileAction> {
  /** The folder of this fork. */
  readonly folder: string;
  fork(signal: AbortSignal): Promise<FolderWorkspace>;
}

const maxDescribedFiles = 40;
const maxDescribedChars = 20_000;
const maxTextChars = 1_000_000;

type Limits = Required<Pick<FolderWorkspaceOptions, 'exclude' | 'maxFiles' | 'maxBytes' | 'tempFolder'>>;

/** Opens a folder as a workspace that can be forked. The folder itself changes only by `apply` on the returned workspace. */
export async function createFolderWorkspace(options: FolderWorkspaceOptions): Promise<FolderWorkspace> {
  const { exclude = ['.git'], maxFiles = 5000, maxBytes = 100_000_000, tempFolder = tmpdir() } = options;
  assertWhole('maxFiles', maxFiles, 1, 1_000_000);
  assertWhole('maxBytes', maxBytes, 1, Number.MAX_SAFE_INTEGER);
  const folder = await realpath(options.folder).catch((error: unknown) => {
    throw badOptionError(`The folder cannot be opened: ${errorMessage(error)}`);
  });
  const limits = { exclude, maxFiles, maxBytes, tempFolder };
  // Found before the first call is paid for: a folder that is too large, or a link.
  await listFiles(folder, limits);
  return openFolder(folder, undefined, limits);
}

/** A file before a change, or the folders that were missing if there was no file. */
type FileBefore =
  | { readonly bytes: Uint8Array; readonly mode: number }
  | { readonly bytes: null; readonly missingFolders: readonly string[] };

/** `owned` is the temporary folder of a fork; undefined for the folder of the caller. */
function openFolder(folder: string, owned: string | undefined, limits: Limits): FolderWorkspace {
  /** The files that were changed since the workspace was opened, or since the checkpoint. */
  const before = new Map<string, FileBefore>();
  const workspace = localWorkspace({ roots: [folder] });
  const change = async (action: FileAction): Promise<string> => {
    const file = locate(workspace, folder, action.path, limits);
    const present = await readFile(file).catch(absentAsNull);
    if (!before.has(file))
      before.set(
        file,
        present === null
          ? { bytes: null, missingFolders: await listMissingFolders(folder, file) }
          : { bytes: present, mode: (await lstat(file)).mode },
      );
    if (action.type === 'remove') {
      if (present === null) throw effectError(`${action.path} does not exist.`);
      await rm(file);
      return `Removed ${action.path}.`;
    }
    const text = action.type === 'write' ? action.text : replaceOnce(action, present);
    if (present !== null) await workspace.read(action.path);
    await workspace.write(action.path, text);
    return `Wrote ${action.path}.`;
  };
  return {
    effects: ['files in the folder'],
    folder,
    fork: async (signal) => {
      const parent = await mkdtemp(path.join(await realpath(limits.tempFolder), 'fairlead-fork-'));
      try {
        const copy = path.join(parent, 'files');
        await copyFolder(folder, copy, limits, signal);
        return openFolder(copy, parent, limits);
      } catch (error) {
        await rm(parent, { recursive: true, force: true });
        throw error;
      }
    },
    checkpoint: async () => before.clear(),
    rollback: async () => {
      for (const [file, earlier] of before) {
        if (earlier.bytes === null) {
          await rm(file, { force: true });
          continue;
        }
        const shown = path.relative(folder, file);
        const isRemoved = (await readFile(file).catch(absentAsNull)) === null;
        if (!isRemoved) await workspace.read(shown);
        await workspace.write(shown, earlier.bytes);
        if (isRemoved) await chmod(file, earlier.mode & 0o777);
      }
      const created = [...before.values()].flatMap((each) => (each.bytes === null ? each.missingFolders : []));
      // The deepest first. A folder that has other files by now stays.
      for (const each of created.toSorted((x, y) => y.length - x.length)) await rmdir(each).catch(() => {});
      before.clear();
    },
    parse: parseFileAction,
    apply: (action, signal) => {
      signal.throwIfAborted();
      return change(action);
    },
    describe: async (signal) => describeFolder(folder, await listFiles(folder, limits), signal),
    fingerprint: async (signal) => {
      const hash = createHash('sha256');
      for (const { name } of await listFiles(folder, limits)) {
        signal.throwIfAborted();
        hash.update(`${name}\0`).update(
          createHash('sha256')
            .update(await readFile(path.join(folder, name)))
            .digest(),
        );
      }
      return hash.digest('hex');
    },
    discard: async () => {
      if (owned !== undefined) await rm(owned, { recursive: true, force: true });
    },
  };
}

/** Reads a proposed change of a file. Any other effect is refused. */
function parseFileAction(proposed: unknown): ParsedAction<FileAction> {
  if (!isObject(proposed)) return { problem: 'An action must be an object with a type.' };
  const { type, path: file, text, old } = proposed;
  const next = proposed['new'];
  if (type !== 'write' && type !== 'replace' && type !== 'remove')
    return {
      problem: `The effect ${JSON.stringify(type)?.slice(0, 60) ?? 'without a type'} cannot be rolled back, so it is refused; write, replace and remove change files.`,
    };
  if (typeof file !== 'string' || file === '') return { problem: 'An action needs the path of a file.' };
  if (path.isAbsolute(file) || file.split(/[/\\]/).includes('..'))
    return { problem: `${file.slice(0, 200)} is outside the folder.` };
  if (type === 'remove') return { action: { type, path: file } };
  if (type === 'write')
    return typeof text === 'string' && text.length <= maxTextChars
      ? { action: { type, path: file, text } }
      : { problem: `A write needs a text of at most ${maxTextChars} characters.` };
  return typeof old === 'string' && old !== '' && typeof next === 'string' && next.length <= maxTextChars
    ? { action: { type, path: file, old, new: next } }
    : { problem: 'A replacement needs the texts old and new.' };
}

/** Whether a name is excluded, in any spelling: file systems may ignore the case of letters. */
const isNamed = (list: readonly string[], name: string): boolean =>
  list.some((each) => normalizeFileName(each) === normalizeFileName(name));

/** Resolves a path inside the folder. Links, names that are not copied, and files that configure git are refused. */
function locate(workspace: Workspace, folder: string, given: string, { exclude }: Limits): string {
  const file = path.resolve(folder, given);
  const names = path.relative(folder, file).split(path.sep);
  const isRefused = names.some((name) => isNamed([...exclude, ...protectedNames], name));
  if (names[0] === '..' || isRefused || workspace.locate(given) !== file)
    throw effectError(`${given} cannot be changed: it is outside the folder, excluded, or a link.`);
  return file;
}

/** The folders that a new file needs and that do not exist. */
async function listMissingFolders(folder: string, file: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = path.dirname(file); at.length > folder.length; at = path.dirname(at))
    if ((await lstat(at).catch(absentAsNull)) === null) missing.push(at);
  return missing;
}

function replaceOnce(action: FileAction & { readonly type: 'replace' }, present: Uint8Array | null): string {
  if (present === null) throw effectError(`${action.path} does not exist.`);
  const text = Buffer.from(present).toString('utf8');
  const at = text.indexOf(action.old);
  if (at < 0 || text.includes(action.old, at + 1))
    throw effectError(`The text to replace occurs ${at < 0 ? 'nowhere' : 'more than once'} in ${action.path}.`);
  return `${text.slice(0, at)}${action.new}${text.slice(at + action.old.length)}`;
}

const absentAsNull = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  throw error;
};

type ListedFile = { readonly name: string; readonly bytes: number };

/** Lists the files of a folder by name. Rejects what cannot be forked: a link, a device, or too much. */
async function listFiles(folder: string, { exclude, maxFiles, maxBytes }: Limits): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = [];
  let bytes = 0;
  const visit = async (relative: string): Promise<void> => {
    const names = (await readdir(path.join(folder, relative))).toSorted();
    for (const name of names) {
      if (isNamed(exclude, name)) continue;
      const child = path.join(relative, name);
      const stat = await lstat(path.join(folder, child));
      if (stat.isDirectory()) {
        await visit(child);
        continue;
      }
      if (!stat.isFile())
        throw effectError(`${child} is a link or a device: a change through it could not be rolled back.`);
      bytes += stat.size;
      files.push({ name: child, bytes: stat.size });
      if (files.length > maxFiles || bytes > maxBytes)
        throw effectError(
          `The folder has more than ${maxFiles} files or ${maxBytes} bytes; exclude what the search does not need.`,
        );
    }
  };
  await visit('');
  return files;
}

async function copyFolder(from: string, to: string, limits: Limits, signal: AbortSignal): Promise<void> {
  const made = new Set<string>();
  await mkdir(to, { recursive: true });
  for (const { name } of await listFiles(from, limits)) {
    signal.throwIfAborted();
    const parent = path.dirname(name);
    if (!made.has(parent)) await mkdir(path.join(to, parent), { recursive: true });
    made.add(parent);
    await copyFile(path.join(from, name), path.join(to, name), constants.COPYFILE_FICLONE);
  }
}

/** The names of the files, and the beginning of small ones. */
async function describeFolder(folder: string, files: readonly ListedFile[], signal: AbortSignal): Promise<string> {
  const shown = files.slice(0, maxDescribedFiles);
  let text = shown.map(({ name, bytes }) => `${name} (${bytes} bytes)`).join('\n');
  if (files.length > shown.length) text += `\nand ${files.length - shown.length} more files`;
  for (const { name, bytes } of shown) {
    signal.throwIfAborted();
    if (text.length + bytes > maxDescribedChars) continue;
    text += `\n\n--- ${name}\n${await readFile(path.join(folder, name), 'utf8')}`;
  }
  return text;
}
