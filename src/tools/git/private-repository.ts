// A private bare repository in a folder of the user: the only repository that git outside the sandbox reads. Objects of the workspace reach it as one verified pack.
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ExecResult, Workspace } from '../../core/index.ts';
import { leadsIntoWorkspace } from '../safe-path.ts';
import { gitError, runGit, withSshAgent, type GitRunOptions } from './safe-git.ts';

/** A private repository with the folder through which a sandbox hands over objects. */
export type PrivateRepository = {
  /** The bare repository; no sandbox can write it. */
  readonly folder: string;
  /** The folder that a sandbox may write: `seed.pack` and `shallow` are read from it, as data. */
  readonly exchange: string;
  /** Runs git in the repository, as the user. */
  readonly git: (args: readonly string[], options?: { readonly connects?: boolean }) => Promise<ExecResult>;
  /** Imports the pack of the exchange folder. The commits of `shallow` have no parents here; each reference names a commit of the pack. */
  readonly importPack: (shallow: readonly string[], references: Readonly<Record<string, string>>) => Promise<void>;
  /** Deletes everything. */
  readonly remove: () => Promise<void>;
};

/** The names of the objects of a repository: SHA-1, or SHA-256. */
export const objectName: RegExp = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const maxAgeMs = 24 * 60 * 60 * 1000;

/** Creates an empty private repository. */
export async function createPrivateRepository(
  parent: string,
  run: GitRunOptions,
  format: 'sha1' | 'sha256' = 'sha1',
): Promise<PrivateRepository> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeOldFolders(parent);
  const place = await mkdtemp(path.join(await realpath(parent), 'transfer-'));
  const folder = path.join(place, 'repository.git');
  const exchange = path.join(place, 'exchange');
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true });
  const git: PrivateRepository['git'] = (args, { connects = false } = {}) =>
    runGit(['-C', folder, '--git-dir=.', ...args], connects ? withSshAgent(run) : { ...run, allowNetwork: false });
  try {
    assertPrivate(run.workspace, place);
    for (const each of [folder, exchange]) await mkdir(each);
    const created = await git(['init', '--bare', '--quiet', '--template=', `--object-format=${format}`]);
    if (created.code !== 0) throw transferError(created);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    folder,
    exchange,
    git,
    remove,
    async importPack(shallow, references) {
      const pack = path.join(folder, 'objects/pack/pack-seed.pack');
      await copyPlainFile(path.join(exchange, 'seed.pack'), pack);
      // Verifies every object and its name.
      const indexed = await git(['index-pack', pack]);
      if (indexed.code !== 0) throw transferError(indexed);
      if (shallow.length > 0) await writeFile(path.join(folder, 'shallow'), `${shallow.join('\n')}\n`);
      for (const [name, commit] of Object.entries(references)) {
        const updated = await git(['update-ref', name, commit]);
        if (updated.code !== 0) throw transferError(updated);
      }
    },
  };
}

/** Creates the error of a step that could not be done. */
export const transferError = ({ text }: Pick<ExecResult, 'text'>): Error =>
  gitError(
    'git/transfer',
    `The commits could not be copied between the sandbox and the private repository, so nothing was sent or changed; the user should use git directly. ${text.trim()}`.trimEnd(),
  );

/** Reads the names of commits from a file that a sandbox wrote. */
export async function readObjectNames(file: string): Promise<readonly string[]> {
  const handle = await openPlainFile(file);
  try {
    const names = (await handle.readFile('utf8')).split('\n').filter((line) => line !== '');
    if (!names.every((name) => objectName.test(name))) throw transferError({ text: '' });
    return names;
  } finally {
    await handle.close();
  }
}

function assertPrivate(workspace: Workspace, place: string): void {
  if (!leadsIntoWorkspace(workspace, place)) return;
  throw gitError(
    'git/no-private-folder',
    `The state folder is inside the working folder (${place}), where commands could write, so no connection was made. The user should set XDG_STATE_HOME to another folder.`,
  );
}

/** A process that was killed leaves its folder. */
async function removeOldFolders(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const found = await stat(path.join(parent, name)).catch(() => undefined);
    if (name.startsWith('transfer-') && found && Date.now() - found.mtimeMs > maxAgeMs)
      await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

/** Opens a file of the sandbox. A link could lead to a file of the user. */
async function openPlainFile(file: string): Promise<Awaited<ReturnType<typeof open>>> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw transferError({ text: '' });
}

async function copyPlainFile(from: string, to: string): Promise<void> {
  const handle = await openPlainFile(from);
  await pipeline(createReadStream('', { fd: handle }), createWriteStream(to, { mode: 0o400, flags: 'wx' }));
}
