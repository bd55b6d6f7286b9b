// The files with declarations of tools for the flow policy: the user's own, and that of a project once its content is approved.
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError, isObject, systemErrorCode, type JsonObject } from '../../core/index.ts';
import { mergeDeclarations, parseDeclarations, type FlowDeclarations } from '../../guards/flow/index.ts';
import { fileTrust, type TrustStore } from '../../guards/index.ts';
import { writeTextAtomic } from '../../stores/index.ts';
import type { Settings } from '../settings/index.ts';

const fileName = 'declarations.json';
const maxFileBytes = 2_000_000;

type Dirs = Pick<Settings['dirs'], 'config' | 'state'>;

/** The user's own file. */
export const getUserDeclarationsFile = ({ config }: Pick<Dirs, 'config'>): string => path.join(config, fileName);

/** The file of a project. */
export const getProjectDeclarationsFile = (cwd: string): string => path.join(cwd, '.fairlead', fileName);

/** A file of a project, and whether the user approved its content. */
export type ProjectDeclarations = { readonly file: string; readonly text: string; readonly isApproved: boolean };

/** Reads the file of a project; undefined if there is none. */
export function readProjectDeclarations(cwd: string, trust: TrustStore): ProjectDeclarations | undefined {
  const file = getProjectDeclarationsFile(cwd);
  const text = readText(file);
  return text === undefined
    ? undefined
    : { file, text, isApproved: trust.check(approvalOf(file, text)) === 'approved' };
}

/** Approves the present content of the file of a project. It must be valid. */
export function approveProjectDeclarations({ file, text }: ProjectDeclarations, trust: TrustStore): void {
  parseDeclarations(parseJson(text, file));
  trust.approve([approvalOf(file, text)]);
}

const approvalOf = (file: string, text: string): { readonly subject: string; readonly hash: string } => ({
  subject: `flow-declarations ${file}`,
  hash: hash('sha256', text),
});

/** Reads the declarations that apply in a directory; undefined if there are none. Those of the user replace those of the project. */
export function readDeclarations(dirs: Dirs, cwd: string): FlowDeclarations | undefined {
  const file = getUserDeclarationsFile(dirs);
  const own = readText(file);
  const project = readProjectDeclarations(cwd, fileTrust(`${dirs.state}/approved.json`));
  const found = [
    ...(project?.isApproved ? [parseDeclarations(parseJson(project.text, project.file))] : []),
    ...(own === undefined ? [] : [parseDeclarations(parseJson(own, file))]),
  ];
  return found.length === 0 ? undefined : mergeDeclarations(...found);
}

/** Returns the texts of the files that apply, that of the project last; a file that cannot be read stops the calls that need it, not this. */
export function readDeclarationTexts(dirs: Dirs, cwd: string): readonly string[] {
  try {
    const project = readProjectDeclarations(cwd, fileTrust(`${dirs.state}/approved.json`));
    return [readText(getUserDeclarationsFile(dirs)) ?? '', ...(project?.isApproved ? [project.text] : [])];
  } catch (error) {
    return [errorMessage(error)];
  }
}

/** Writes the declaration of a tool to the user's own file, or removes it. The other declarations stay as they are. */
export function storeDeclaration(dirs: Dirs, tool: string, declaration: JsonObject | undefined): string {
  const file = getUserDeclarationsFile(dirs);
  const text = readText(file);
  const content = text === undefined ? { tools: {} } : parseJson(text, file);
  if (!isObject(content) || !isObject(content['tools'])) throw invalidFile(file, 'it has no object "tools".');
  const { [tool]: _previous, ...others } = content['tools'];
  const next = { ...content, tools: declaration ? { ...others, [tool]: declaration } : others };
  parseDeclarations(next);
  writeTextAtomic(file, `${JSON.stringify(next, undefined, 2)}\n`);
  return file;
}

function readText(file: string): string | undefined {
  try {
    const { size } = statSync(file);
    if (size > maxFileBytes) throw invalidFile(file, 'it is too large.');
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return undefined;
    if (error instanceof FairleadError) throw error;
    throw invalidFile(file, errorMessage(error));
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidFile(file, 'it is not JSON.');
  }
}

const invalidFile = (file: string, why: string): FairleadError =>
  new FairleadError('guards/declarations', `${file} cannot be used: ${why}`, {
    blame: 'user',
    hint: 'Correct or remove the file: until then no tool call is allowed.',
  });
