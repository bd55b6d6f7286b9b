// Finds the program of a language server. A program inside the opened folder needs approval of its content.
import { createHash, hash } from 'node:crypto';
import { accessSync, constants, createReadStream, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { canonicalJson, toJson, isPathInside, systemErrorCode } from '../../core/index.ts';
import { foldersOutside } from '../safe-path.ts';
import type { LanguageServerDefinition } from './definition.ts';
import { lspError } from './rpc.ts';

/** What the user approves: a stable name and the hash of the content, with the reason. */
export type ServerApproval = { readonly subject: string; readonly hash: string; readonly why: string };

/** Asks the user to approve new items. The signal cancels the question. */
export type RequestServerApproval = (
  items: readonly ServerApproval[],
  signal: AbortSignal,
) => boolean | Promise<boolean>;

/** Returns true if the content was approved before. The content is hashed only if needed. */
export type IsServerApproved = (subject: string, hash: () => Promise<string>) => boolean | Promise<boolean>;

/** The folder for which a program is searched. */
export type BinaryContext = {
  /** The opened folder, or the repository around it. Its content is not trusted. */
  readonly folder: string;
  /** The root of the project that the server is for. */
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly isApproved: IsServerApproved;
  readonly requestApproval: RequestServerApproval;
};

/** Returns the real path of the program to start. Throws if none may be used. */
export async function resolveServerBinary(
  definition: LanguageServerDefinition,
  place: BinaryContext,
  signal: AbortSignal,
): Promise<string> {
  const refused: string[] = [];
  for (const candidate of binaryCandidates(definition, place)) {
    const open = await missingApprovals(requiredApprovals(definition, candidate, place), place);
    const items = await Promise.all(open.map(async ({ hash, ...item }) => ({ ...item, hash: await hash() })));
    if (items.length === 0 || (await place.requestApproval(items, signal))) return candidate.program;
    refused.push(...items.map((item) => item.why));
  }
  const [why] = refused;
  if (why !== undefined)
    throw lspError('lsp/not-approved', `The language server ${definition.name} was not started: ${why}.`);
  throw lspError(
    'lsp/no-program',
    `${programName(definition)} is not installed, so nothing is known about such files.`,
    'Install it, or configure another language server.',
  );
}

/** Returns true if the user has consented to the program: it is from the user's own configuration, or everything is approved. */
export async function hasServerConsent(definition: LanguageServerDefinition, place: BinaryContext): Promise<boolean> {
  const [candidate] = binaryCandidates(definition, place);
  if (!candidate) return false;
  const wanted = requiredApprovals(definition, candidate, place);
  if (wanted.length === 0) return definition.origin === 'user';
  return (await missingApprovals(wanted, place)).length === 0;
}

/** An approval whose content is not hashed yet. */
type RequiredApproval = Omit<ServerApproval, 'hash'> & { readonly hash: () => Promise<string> };

/** Returns the approvals that are still missing. */
async function missingApprovals(
  wanted: readonly RequiredApproval[],
  { isApproved }: BinaryContext,
): Promise<readonly RequiredApproval[]> {
  const approvals = await Promise.all(wanted.map(async ({ subject, hash }) => isApproved(subject, hash)));
  return wanted.filter((_, i) => !approvals[i]);
}

const programName = ({ command }: LanguageServerDefinition): string =>
  command === 'typescript' ? 'TypeScript of version 7 or later' : command;

/** A program, and whether it was found inside the folder. */
type BinaryCandidate = { readonly program: string; readonly fromFolder: boolean };

function binaryCandidates(
  { command, origin }: LanguageServerDefinition,
  place: BinaryContext,
): readonly BinaryCandidate[] {
  const { folder, root, environment } = place;
  const onPath = (name: string): readonly string[] =>
    foldersOutside(folder, environment['PATH']).flatMap((each) => resolveExecutable(path.join(each, name)) ?? []);
  const all = (programs: readonly string[], ofFolder: boolean): readonly BinaryCandidate[] =>
    [...new Set(programs)].map((program) => ({ program, fromFolder: ofFolder || isPathInside(folder, program) }));
  if (command === 'typescript') {
    const native = (from: readonly string[]): readonly string[] => from.flatMap((each) => nativeTypescript(each) ?? []);
    const ours = native([import.meta.filename, ...onPath('tsc')]);
    const theirs = native([path.join(root, 'package.json')]).filter((program) => !ours.includes(program));
    return [...all(theirs, true), ...all(ours, false)];
  }
  if (path.basename(command) === command) return all(onPath(command), false);
  // A relative path points into the folder in any spelling.
  return all(
    [resolveExecutable(path.resolve(root, command)) ?? []].flat(),
    origin === 'project' || !path.isAbsolute(command),
  );
}

function resolveExecutable(file: string): string | undefined {
  for (const each of process.platform === 'win32' ? [`${file}.exe`, file] : [file])
    try {
      accessSync(each, constants.X_OK);
      if (statSync(each).isFile()) return realpathSync.native(each);
    } catch {
      // Not found here.
    }
  return undefined;
}

/** Returns the native TypeScript program that a file would import. Its launcher is a script, whose hash would say nothing about what runs. */
function nativeTypescript(from: string): string | undefined {
  const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
  try {
    const manifest = enclosingManifest(from) ?? findPackageManifest(from, 'typescript');
    const { version } = JSON.parse(readRegularFile(manifest)) as { readonly version?: unknown };
    if (typeof version !== 'string' || Number.parseInt(version, 10) < 7) return undefined;
    return resolveExecutable(path.join(path.dirname(findPackageManifest(manifest, platform)), 'lib', 'tsc'));
  } catch {
    return undefined;
  }
}

/** Returns the manifest of TypeScript for a file that is part of it. */
function enclosingManifest(file: string): string | undefined {
  const manifest = path.resolve(file, '..', '..', 'package.json');
  if (path.basename(file) !== 'tsc') return undefined;
  const { name } = JSON.parse(readRegularFile(manifest)) as { readonly name?: unknown };
  return name === 'typescript' ? manifest : undefined;
}

/** Finds the manifest of a package as Node would. Node's own resolution is not used: it would wait forever on a pipe with that name. */
function findPackageManifest(from: string, name: string): string {
  for (let at = path.dirname(from); ; at = path.dirname(at)) {
    const file = path.join(at, 'node_modules', name, 'package.json');
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return realpathSync.native(file);
    if (at === path.dirname(at)) throw new Error(`${name} is not installed.`);
  }
}

/** Returns the text of a regular file. */
function readRegularFile(file: string): string {
  if (!statSync(file).isFile()) throw new Error(`${file} is not a regular file.`);
  return readFileSync(file, 'utf8');
}

/** Returns what must be approved before this program starts here. */
function requiredApprovals(
  definition: LanguageServerDefinition,
  { program, fromFolder }: BinaryCandidate,
  { folder, root }: BinaryContext,
): readonly RequiredApproval[] {
  const { name, args, origin, executedFiles } = definition;
  const wanted: RequiredApproval[] = [];
  if (fromFolder)
    wanted.push({
      subject: `language-server ${program}`,
      hash: () => hashFile(program),
      why: `${program} comes with this folder and was not approved`,
    });
  if (origin === 'project')
    wanted.push({
      subject: `language-server ${folder} ${name}`,
      hash: async () =>
        hash('sha256', canonicalJson(toJson({ definition, files: await hashArgumentFiles(args, root) }))),
      why: 'this folder configures it and it was not approved',
    });
  if (executedFiles !== undefined)
    wanted.push({
      subject: `language-server ${root} ${name} runs`,
      hash: async () =>
        hash('sha256', canonicalJson(executedFiles.map((file) => [file, readTextOrNull(path.join(root, file))]))),
      why: `it runs code that ${root} configures, which was not approved`,
    });
  return wanted;
}

/** Returns the hashes of files in the arguments: a script is what runs, not its interpreter. */
async function hashArgumentFiles(
  args: readonly string[],
  root: string,
): Promise<readonly (readonly [string, string])[]> {
  const named = args.flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1)]).map((arg) => path.resolve(root, arg));
  const files = [...new Set(named)].filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  return Promise.all(files.map(async (file) => [file, await hashFile(file)] as const));
}

async function hashFile(file: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const bytes of createReadStream(file)) digest.update(bytes as Buffer);
  return digest.digest('hex');
}

function readTextOrNull(file: string): string | null {
  try {
    return readRegularFile(file);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
