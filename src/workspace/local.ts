// A workspace on the local disk: confined to its roots. It tracks which files were read and keeps replaced contents.
import { isUtf8 } from 'node:buffer';
import { realpathSync, statSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import {
  escapeInvisibleLine,
  isPathInside,
  type DirectoryEntry,
  type FileContent,
  type DirectoryListing,
  type Workspace,
} from '../core/index.ts';
import { createBlobStore } from './blobs.ts';
import { execCommand } from './exec.ts';
import { sha256Hex, readBytes, replaceFileContent, fileStamp } from './files.ts';
import { outputFolderFor } from './output-files.ts';
import { resolveWithinRoots, assertWritable, resolveLinks } from './paths.ts';
import { withOpenFolder } from './fd-paths.ts';
import { toWorkspaceError, workspaceError } from './errors.ts';

const maxEntries = 10_000;

/** Names that no write may touch in any folder, because other programs execute what is there. */
export const protectedNames: readonly string[] = ['.git', '.gitmodules'];

/** Options of localWorkspace. */
export type LocalWorkspaceOptions = {
  /** The folders that may be read and written. They come from the user, never from a model. */
  readonly roots: readonly string[];
  /** The base of relative paths. Default: the first root. */
  readonly cwd?: string;
  /** The folder for earlier contents of changed files. Without it, nothing can be undone. */
  readonly blobs?: string;
  /** The folder for long command output, with one read-only subfolder per working folder. Without it, none is saved. */
  readonly outputs?: string;
  /** More paths that no write may touch, besides the default: names in any folder, or absolute paths. */
  readonly protect?: readonly string[];
  /** Absolute paths of files that cannot be read, because they contain logins. */
  readonly denyRead?: readonly string[];
};

/** Opens a workspace on folders of this machine. */
export function localWorkspace(options: LocalWorkspaceOptions): Workspace {
  const protect = [...protectedNames, ...(options.protect ?? [])].map((each) =>
    isAbsolute(each) ? resolveLinks(each) : each,
  );
  const sealed = (options.denyRead ?? []).map((each) => resolveLinks(each));
  const blobs = createBlobStore(options.blobs);
  const roots = options.roots.map((root) => resolveRoot(root));
  const cwd = resolveRoot(options.cwd ?? options.roots[0] ?? '.');
  if (!roots.some((root) => isPathInside(root, cwd)))
    throw workspaceError('outside', `The working folder ${escapeInvisibleLine(cwd)} is outside the workspace.`);
  /** The hash of each file as the model last saw it. */
  const seen = new Map<string, string>();
  let writing: Promise<unknown> = Promise.resolve();

  const outputs = options.outputs === undefined ? undefined : outputFolderFor(options.outputs, cwd);
  const beside = outputs === undefined ? undefined : resolveLinks(outputs);
  /** Resolves a path for reading. */
  const find = (given: string, at?: string): string => {
    const found = resolveWithinRoots(given, cwd, roots, beside);
    assertLocated(given, found, at);
    return found;
  };
  const findOpen = (given: string, at: string | undefined): string => {
    const found = resolveWithinRoots(given, cwd, roots);
    assertLocated(given, found, at);
    assertWritable(found, roots, protect);
    return found;
  };
  /** Runs one change after the other: what was checked is still true when the change is made. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = writing.then(work);
    writing = turn.catch(() => {});
    return turn;
  };

  return {
    cwd,
    locate: (given) => find(given),
    async read(given, { unseen = false, at } = {}) {
      const found = find(given, at);
      if (sealed.includes(found))
        throw workspaceError(
          'protected',
          `${escapeInvisibleLine(given)} was not read: it contains logins of the user.`,
        );
      const content = await readFileContent(found);
      if (!unseen) seen.set(content.path, content.hash);
      return content;
    },
    write: (given, content, { over, lastRead, at, ...how } = {}) =>
      inTurn(async () => {
        const found = findOpen(given, at);
        const bytes = encodeContent(given, content);
        let before: string | null = null;
        await replaceFileContent(
          found,
          bytes,
          async (present) => {
            before = present ? sha256Hex(present) : null;
            assertFresh(given, before, seen.get(found) ?? lastRead, over);
            if (present) await blobs.put(present);
          },
          how,
        );
        const after = sha256Hex(bytes);
        seen.set(found, after);
        return { path: found, before, after };
      }),
    remove: (given, { at, ...how } = {}) =>
      inTurn(async () => {
        const found = findOpen(given, at);
        if (options.blobs === undefined)
          throw workspaceError(
            'no-blob',
            `${escapeInvisibleLine(given)} was not removed: contents are not stored here, so it could not be restored.`,
          );
        let before: string | null = null;
        await replaceFileContent(
          found,
          undefined,
          async (present) => {
            before = present ? sha256Hex(present) : null;
            assertFresh(given, before, seen.get(found) ?? before ?? undefined, undefined);
            if (present) await blobs.put(present);
          },
          how,
        );
        seen.delete(found);
        return { path: found, before, after: null };
      }),
    restore: (change, { at, ...how } = {}) =>
      inTurn(async () => {
        const found = findOpen(change.path, at);
        const bytes = change.before === null ? undefined : await blobs.get(change.before);
        await replaceFileContent(
          found,
          bytes,
          async (present) => {
            if ((present ? sha256Hex(present) : null) === change.after) return;
            throw workspaceError(
              'changed',
              `${escapeInvisibleLine(found)} was changed since, so it was left unchanged.`,
            );
          },
          how,
        );
        // The model has seen the undone content, not the present one.
        seen.delete(found);
      }),
    list: async (given) => readListing(find(given)),
    stamp: async (given) => fileStamp(find(given)),
    exec: async (command, how = {}) =>
      execCommand(command, resolveRoot(resolveWithinRoots(how.cwd ?? cwd, cwd, roots)), how, outputs),
  };
}

/** Throws if a path leads to another file than the one that was decided about. */
function assertLocated(given: string, found: string, at: string | undefined): void {
  if (at === undefined || at === found) return;
  const shown = escapeInvisibleLine(given);
  throw workspaceError('changed', `${shown} was left alone: it leads to another file than when the call was approved.`);
}

function resolveRoot(given: string): string {
  try {
    const found = realpathSync.native(given);
    if (statSync(found).isDirectory()) return found;
  } catch (error) {
    throw toWorkspaceError(error, given);
  }
  throw workspaceError('not-a-folder', `${escapeInvisibleLine(given)} is not a folder.`);
}

async function readFileContent(found: string): Promise<FileContent> {
  const bytes = await readBytes(found);
  const isText = isUtf8(bytes) && !bytes.includes(0);
  const text = isText ? { text: Buffer.from(bytes).toString('utf8') } : {};
  return { path: found, bytes, hash: sha256Hex(bytes), ...text };
}

/** Throws if a text cannot be encoded, instead of changing it. */
function encodeContent(given: string, content: string | Uint8Array): Uint8Array {
  if (typeof content !== 'string') return content;
  if (content.isWellFormed()) return Buffer.from(content);
  throw workspaceError(
    'bad-content',
    `${escapeInvisibleLine(given)} was not written: the text contains half a character (a lone surrogate).`,
  );
}

/** Throws unless the model has seen the present content of a file. */
function assertFresh(
  given: string,
  before: string | null,
  seen: string | undefined,
  over: string | null | undefined,
): void {
  const shown = escapeInvisibleLine(given);
  if (before !== null && seen === undefined)
    throw workspaceError('not-read', `${shown} was not changed: it has not been read yet; read it first.`);
  if (before !== null && before !== seen)
    throw workspaceError('changed', `${shown} was not changed: it has changed since it was read; read it again first.`);
  if (over !== undefined && before !== over)
    throw workspaceError('changed', `${shown} was not changed: it changed at the same time; read it again first.`);
}

async function readListing(found: string): Promise<DirectoryListing> {
  return withOpenFolder(found, async (folder) => {
    const entries: DirectoryEntry[] = [];
    let more = false;
    for await (const each of await opendir(folder.pathOf('.'))) {
      more = entries.length >= maxEntries;
      if (more) break;
      const type = each.isFile() ? 'file' : each.isDirectory() ? 'folder' : each.isSymbolicLink() ? 'link' : 'other';
      entries.push({ name: each.name, type });
    }
    return { path: found, entries: entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)), more };
  });
}
