// Reads the folder of an agent for a release: the files of a config directory, without secrets, links and permissions.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isSecretFile } from '../../core/index.ts';
import { getFileKind, isRelativePath, sha256, type ReleaseFile } from './manifest.ts';

/** The files of an agent, their contents by hash, and the files that were left out with the reason. */
export type AgentFolder = {
  readonly files: readonly ReleaseFile[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly leftOut: readonly { readonly path: string; readonly reason: string }[];
};

const maxFiles = 2000;
const maxBytes = 20_000_000;

/** What belongs to the user of a machine and not to the agent. */
const personalNames: ReadonlySet<string> = new Set([
  'permissions.yaml',
  'release-keys.pem',
  'node_modules',
  'releases',
]);

/**
 * Reads the files of a folder, sorted by path. `findSecret` returns the name of a secret in a text; a file with one is an error, because a
 * release is copied to other machines.
 */
export function readAgentFolder(folder: string, findSecret: (text: string) => string | undefined): AgentFolder {
  const files: ReleaseFile[] = [];
  const contents = new Map<string, Uint8Array>();
  const leftOut: { path: string; reason: string }[] = [];
  let bytes = 0;
  const visit = (parent: string): void => {
    for (const { name } of readdirSync(path.join(folder, parent), { withFileTypes: true })) {
      const file = path.posix.join(parent, name);
      const found = lstatSync(path.join(folder, file));
      const reason = findReason(file, name, found.isFile() || found.isDirectory());
      if (reason !== undefined) leftOut.push({ path: file, reason });
      else if (found.isDirectory()) visit(file);
      else {
        const content = readFileSync(path.join(folder, file));
        bytes += content.length;
        if (files.length >= maxFiles || bytes > maxBytes) throw tooLargeError(folder);
        const secret = findSecret(content.toString('utf8'));
        if (secret !== undefined) throw secretError(file, secret);
        const hash = sha256(content);
        contents.set(hash, content);
        files.push({ path: file, kind: getFileKind(file), hash, bytes: content.length });
      }
    }
  };
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new FairleadError('release/no-folder', `There is no folder ${folder}.`, { blame: 'user' });
  visit('');
  if (files.length === 0)
    throw new FairleadError('release/empty', `The folder ${folder} has no file of an agent.`, {
      blame: 'user',
      hint: 'It needs a config.json, an AGENTS.md, rules, skills or the like. Name another with --folder.',
    });
  return { files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)), contents, leftOut };
}

function findReason(file: string, name: string, isPlain: boolean): string | undefined {
  if (!isPlain) return 'it is neither a file nor a folder';
  if (name.startsWith('.')) return 'it is hidden';
  if (personalNames.has(file)) return 'it belongs to this machine';
  if (isSecretFile(file)) return 'files of this name usually hold secrets';
  return isRelativePath(file) ? undefined : 'its name cannot be used on every machine';
}

const tooLargeError = (folder: string): FairleadError =>
  new FairleadError(
    'release/too-large',
    `The folder ${folder} has more than ${maxFiles} files or ${maxBytes / 1e6} MB.`,
    { blame: 'user', hint: 'Keep only the files of the agent there.' },
  );

const secretError = (file: string, secret: string): FairleadError =>
  new FairleadError('release/has-secret', `The file ${file} contains a secret (${secret}).`, {
    blame: 'user',
    hint: 'Keep keys in the environment or in your own config.json, and refer to variables.',
  });
