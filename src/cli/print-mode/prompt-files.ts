// Reads prompts from files: saved ones in the data directory, and files that the user names.
import path from 'node:path';
import { FairleadError, isPathInside } from '../../core/index.ts';
import { tryRealPath, resolvesInside, collectFiles, readTextFile } from '../../agent/project-files/index.ts';

const maxPromptBytes = 1_048_576;
const maxPrompts = 1_000;
const maxDepth = 8;

/** Lists the saved prompts for `/promptfile`: relative paths with slashes, sorted. */
export function listPromptFiles(dataDir: string): readonly string[] {
  const dir = promptsDir(dataDir);
  return collectFiles(dir, maxDepth, maxPrompts)
    .filter(({ name, link }) => !link || resolvesInside(dir, path.join(dir, name)))
    .map(({ name }) => name);
}

/** Reads a saved prompt. Throws if the path, or the target of a link, is outside the prompts directory. */
export function readSavedPrompt(dataDir: string, name: string): string {
  const dir = promptsDir(dataDir);
  const file = path.resolve(dir, name);
  if (name.includes('\0') || path.isAbsolute(name) || !isPathInside(dir, file))
    throw promptError('prompt/outside', `The prompt ${JSON.stringify(name)} is not in ${dir}.`, outsidePromptsHint);
  const real = tryRealPath(file);
  if (real !== undefined && !resolvesInside(dir, file))
    throw promptError(
      'prompt/outside',
      `The prompt ${JSON.stringify(name)} links out of ${dir}, to ${real}.`,
      outsidePromptsHint,
    );
  return readPromptText(file, `The prompt ${JSON.stringify(name)}`, `Prompts are saved in ${dir}.`);
}

/** Reads a prompt file; a relative path is resolved from the working directory. */
export function readPromptFile(name: string, cwd: string): string {
  const file = path.resolve(cwd, name);
  return readPromptText(
    file,
    `The prompt file ${file}`,
    'Use an absolute path or one relative to the working directory.',
  );
}

const promptsDir = (dataDir: string): string => path.join(path.resolve(dataDir), 'prompts');

const outsidePromptsHint = 'Name a file below that directory, or use --prompt-file for another one.';

function readPromptText(file: string, subject: string, hint: string): string {
  const read = readTextFile(file, maxPromptBytes);
  if ('wrong' in read) throw promptError(`prompt/${read.wrong.replaceAll(' ', '-')}`, `${subject} ${read.why}.`, hint);
  if (read.cut)
    throw promptError('prompt/too-large', `${subject} has ${read.size} bytes; the maximum is ${maxPromptBytes}.`);
  if (read.text.trim() === '') throw promptError('prompt/empty', `${subject} is empty.`);
  return read.text;
}

const promptError = (code: string, message: string, hint?: string): FairleadError =>
  new FairleadError(code, message, { blame: 'user', ...(hint === undefined ? {} : { hint }) });
