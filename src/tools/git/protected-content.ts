// Compares protected files on disk with the content that a commit has for them: what the user is shown, and what may be there after git wrote it.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { FairleadError, escapeInvisible, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { createUnifiedDiff } from '../file-change.ts';
import { gitError, type RepositoryReader } from './safe-git.ts';

/** What is on disk at the path of a protected file. */
type DiskContent =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly text?: string }
  /** The real path to which a link leads; undefined if that is outside the workspace. */
  | { readonly kind: 'link'; readonly location: string | undefined }
  | { readonly kind: 'absent' | 'other' };

/** What a commit has at the path of a protected file. */
type CommitEntry = { readonly mode: string; readonly id: string; readonly size: number };

/** A protected file that a checkout writes or deletes. */
export type PlannedFile = {
  /** The path on disk. */
  readonly file: string;
  readonly name: string;
  readonly disk: DiskContent;
  /** Absent if the checkout deletes the file. */
  readonly entry?: CommitEntry;
  /** The path to which the link of the commit leads. */
  readonly linkTarget?: string;
};

const linkMode = '120000';
const executableMode = '100755';
const submoduleMode = '160000';
const maxShownBytes = 1_000_000;
const maxDiffChars = 20_000;

/** Reads these files on disk, and what the commit has for them. The index and HEAD say nothing about the disk: a command can write both. */
export async function planFiles(
  { read, top }: RepositoryReader,
  commit: string,
  files: readonly string[],
  workspace: Workspace,
): Promise<readonly PlannedFile[]> {
  const names = files.map((file) => path.relative(top, file));
  const listed = await read(['ls-tree', '-z', '-l', '--full-tree', commit, '--', ...names]);
  if (listed === undefined) throw unknownFilesError();
  const entries = new Map(
    [...listed.matchAll(/(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t([^\0]*)\0/g)].map(
      ([, mode = '', id = '', size, name = '']) => [name, { mode, id, size: Number(size) || 0 }],
    ),
  );
  const planned: PlannedFile[] = [];
  for (const [at, file] of files.entries()) {
    const name = names[at] ?? '';
    const entry = entries.get(name);
    const link = entry?.mode === linkMode ? await readBlob(read, entry) : undefined;
    planned.push({
      file,
      name: escapeInvisibleLine(name),
      disk: await readDisk(workspace, file),
      ...(entry && { entry }),
      ...(link !== undefined && { linkTarget: link }),
    });
  }
  return planned;
}

/** Creates the error about a change whose files are not known. */
export const unknownFilesError = (): Error =>
  gitError('git/unknown-files', 'The files that would change cannot be listed, so nothing was done.');

async function readDisk(workspace: Workspace, file: string): Promise<DiskContent> {
  const location = locate(workspace, file);
  if (location !== file) return { kind: 'link', location };
  try {
    const { bytes, text } = await workspace.read(file, { unseen: true, at: file });
    return { kind: 'file', bytes, ...(text !== undefined && { text }) };
  } catch (error) {
    return { kind: error instanceof FairleadError && error.code === 'workspace/not-found' ? 'absent' : 'other' };
  }
}

/** Returns the real path; undefined if it is outside the workspace. */
function locate(workspace: Workspace, file: string): string | undefined {
  try {
    return workspace.locate(file);
  } catch {
    return undefined;
  }
}

/** Returns the text of a blob; undefined if it is too large, or if git returned anything but its exact content. */
async function readBlob(
  read: RepositoryReader['read'],
  { id, size }: Pick<CommitEntry, 'id' | 'size'>,
): Promise<string | undefined> {
  if (size > maxShownBytes) return undefined;
  const text = await read(['cat-file', 'blob', id]);
  return text !== undefined && !text.includes('\0') && hashBlob(Buffer.from(text), id) === id ? text : undefined;
}

/** Returns the object name that git gives this content, with the hash function of another name. */
const hashBlob = (bytes: Uint8Array, like: string): string =>
  createHash(like.length === 64 ? 'sha256' : 'sha1')
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest('hex');

/** Returns the lines that show how the files on disk change. Throws if they are too long to be read in a question. */
export async function formatPlan(
  { read }: RepositoryReader,
  planned: readonly PlannedFile[],
): Promise<readonly string[]> {
  let shown = '';
  for (const each of planned) {
    shown += `${(await formatFile(read, each)).trimEnd()}\n`;
    if (shown.length > maxDiffChars)
      throw gitError(
        'git/protected',
        `Files that other programs run or load would change by more than ${maxDiffChars} characters, which is too long to be approved in a question, so nothing was done. The user should use git directly.`,
      );
  }
  return escapeInvisible(shown)
    .trimEnd()
    .split('\n')
    .map((line) => `| ${line}`);
}

async function formatFile(
  read: RepositoryReader['read'],
  { name, disk, entry, linkTarget = 'a path that cannot be shown' }: PlannedFile,
): Promise<string> {
  const from = disk.kind === 'link' ? ' instead of a symbolic link' : '';
  const action = !entry ? 'deleted' : disk.kind === 'absent' ? 'created' : `changed${from}`;
  const heading = `${name}: ${action}${entry?.mode === executableMode ? ', executable' : ''}`;
  if (entry?.mode === submoduleMode) return `${heading}: it becomes the folder of a submodule`;
  if (entry?.mode === linkMode) return `${heading}: it becomes a symbolic link to ${escapeInvisibleLine(linkTarget)}`;
  if (isAsCommitted(disk, entry)) return `${heading}: only line endings or the mode differ from the file on disk`;
  const before = disk.kind === 'file' ? disk.text : '';
  const after = entry ? await readBlob(read, entry) : '';
  if (after === undefined) return `${heading}: its new content of ${entry?.size} bytes cannot be shown`;
  const texts = { path: name, before: plainLines(before ?? ''), after: plainLines(after) };
  return `${heading}\n${(await createUnifiedDiff(texts)) ?? after}`;
}

/** Line endings depend on the platform and on attributes. */
const plainLines = (text: string): string => text.replaceAll('\r\n', '\n');

/** Whether this is what the commit has, apart from line endings and the mode. */
function isAsCommitted(disk: DiskContent, entry: CommitEntry | undefined): boolean {
  if (!entry) return disk.kind === 'absent';
  if (entry.mode === submoduleMode) return disk.kind === 'absent' || disk.kind === 'other';
  if (entry.mode === linkMode || disk.kind !== 'file') return false;
  const { bytes, text } = disk;
  const candidates = [bytes, ...(text === undefined ? [] : [Buffer.from(plainLines(text))])];
  return candidates.some((each) => hashBlob(each, entry.id) === entry.id);
}

/** Takes back what is neither the approved content nor the content before, and throws then: attributes and filters of the repository can change what git writes. */
export async function assertWrittenAsApproved(planned: readonly PlannedFile[], workspace: Workspace): Promise<void> {
  const wrong: string[] = [];
  for (const each of planned) {
    const now = await readDisk(workspace, each.file);
    if (isAsCommitted(now, each.entry) || isSameContent(now, each.disk) || isApprovedLink(now, each, workspace))
      continue;
    const isRestored = await restoreFile(each, workspace);
    wrong.push(`${each.name} (${isRestored ? 'restored' : 'not restored: the user must check it'})`);
  }
  if (wrong.length > 0)
    throw gitError(
      'git/not-approved',
      `Git wrote other content than the user approved, because a filter or an attribute of the repository changes it: ${wrong.join(', ')}. The user should use git directly.`,
    );
}

function isSameContent(now: DiskContent, before: DiskContent): boolean {
  if (now.kind === 'file') return before.kind === 'file' && Buffer.compare(now.bytes, before.bytes) === 0;
  return now.kind === before.kind && (now.kind !== 'link' || now.location === locationOf(before));
}

const locationOf = (disk: DiskContent): string | undefined => (disk.kind === 'link' ? disk.location : undefined);

function isApprovedLink(now: DiskContent, { file, entry, linkTarget }: PlannedFile, workspace: Workspace): boolean {
  if (now.kind !== 'link' || entry?.mode !== linkMode || linkTarget === undefined) return false;
  return now.location === locate(workspace, path.resolve(path.dirname(file), linkTarget));
}

async function restoreFile({ file, disk }: PlannedFile, workspace: Workspace): Promise<boolean> {
  try {
    if (disk.kind === 'file') {
      if ((await readDisk(workspace, file)).kind === 'file') await workspace.read(file, { at: file });
      await workspace.write(file, disk.bytes, { at: file });
    } else await workspace.remove?.(file, { at: file });
  } catch {
    return false;
  }
  return isSameContent(await readDisk(workspace, file), disk);
}
