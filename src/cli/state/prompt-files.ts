// Prompts kept in files: reusable ones in the data folder, and any one that the person names.
import path from 'node:path';
import { FairleadError, isPathInside } from '../../core/index.ts';
import { tryRealPath, resolvesInside } from '../../agent/project-files/paths.ts';
import { collectFiles } from '../../agent/project-files/search-dirs.ts';
import { readTextFile } from '../../agent/project-files/text-file.ts';

const maxPromptBytes = 1_048_576;
const maxPrompts = 1_000;
const maxDepth = 8;

/** The prompts in the data folder, as they are called by `/promptfile`: paths with slashes, in order. */
export function listPromptFiles(dataDir: string): readonly string[] {
  const folder = promptsDir(dataDir);
  return collectFiles(folder, maxDepth, maxPrompts)
    .filter(({ name, link }) => !link || resolvesInside(folder, path.join(folder, name)))
    .map(({ name }) => name);
}

/** The prompt of this path under the data folder's `prompts`. What lies or leads elsewhere is refused. */
export function readSavedPrompt(dataDir: string, name: string): string {
  const folder = promptsDir(dataDir);
  const file = path.resolve(folder, name);
  if (name.includes('\0') || path.isAbsolute(name) || !isPathInside(folder, file))
    throw promptError('prompt/outside', `The prompt ${JSON.stringify(name)} is not in ${folder}.`, outsidePromptsHint);
  const real = tryRealPath(file);
  if (real !== undefined && !resolvesInside(folder, file))
    throw promptError(
      'prompt/outside',
      `The prompt ${JSON.stringify(name)} leads out of ${folder}, to ${real}.`,
      outsidePromptsHint,
    );
  return readPromptText(file, `The prompt ${JSON.stringify(name)}`, `Prompts are kept in ${folder}.`);
}

/** The prompt in a file, named from the working folder or in full. */
export function readPromptFile(name: string, cwd: string): string {
  const file = path.resolve(cwd, name);
  return readPromptText(file, `The prompt file ${file}`, 'Name it in full or from the working folder.');
}

const promptsDir = (dataDir: string): string => path.join(path.resolve(dataDir), 'prompts');

const outsidePromptsHint = 'Name a file under that folder, or use --prompt-file for one elsewhere.';

function readPromptText(file: string, what: string, hint: string): string {
  const read = readTextFile(file, maxPromptBytes);
  if ('wrong' in read) throw promptError(`prompt/${read.wrong.replaceAll(' ', '-')}`, `${what} ${read.why}.`, hint);
  if (read.cut)
    throw promptError('prompt/too-large', `${what} is ${read.size} bytes long; at most ${maxPromptBytes} are sent.`);
  if (read.text.trim() === '') throw promptError('prompt/empty', `${what} is empty.`);
  return read.text;
}

const promptError = (code: string, message: string, hint?: string): FairleadError =>
  new FairleadError(code, message, { blame: 'user', ...(hint === undefined ? {} : { hint }) });
