// Prompts kept in files: reusable ones in the data folder, and any one that the person names.
import path from 'node:path';
import { FairleadError } from '../core/index.ts';
import { isInside, tryRealPath, resolvesInside } from '../agent/project/folders.ts';
import { collectFiles } from '../agent/project/shelves.ts';
import { readTextFile } from '../agent/project/text-file.ts';

const mostBytes = 1_048_576;
const mostPrompts = 1_000;
const deepest = 8;

/** The prompts in the data folder, as they are called by `/promptfile`: paths with slashes, in order. */
export function listPrompts(dataDir: string): readonly string[] {
  const folder = promptsIn(dataDir);
  return collectFiles(folder, deepest, mostPrompts)
    .filter(({ name, link }) => !link || resolvesInside(folder, path.join(folder, name)))
    .map(({ name }) => name);
}

/** The prompt of this path under the data folder's `prompts`. What lies or leads elsewhere is refused. */
export function readPrompt(dataDir: string, name: string): string {
  const folder = promptsIn(dataDir);
  const file = path.resolve(folder, name);
  if (name.includes('\0') || path.isAbsolute(name) || !isInside(folder, file))
    throw refused('prompt/outside', `The prompt ${JSON.stringify(name)} is not in ${folder}.`, outsideHint);
  const real = tryRealPath(file);
  if (real !== undefined && !resolvesInside(folder, file))
    throw refused(
      'prompt/outside',
      `The prompt ${JSON.stringify(name)} leads out of ${folder}, to ${real}.`,
      outsideHint,
    );
  return textOf(file, `The prompt ${JSON.stringify(name)}`, `Prompts are kept in ${folder}.`);
}

/** The prompt in a file, named from the working folder or in full. */
export function readPromptFile(name: string, cwd: string): string {
  const file = path.resolve(cwd, name);
  return textOf(file, `The prompt file ${file}`, 'Name it in full or from the working folder.');
}

const promptsIn = (dataDir: string): string => path.join(path.resolve(dataDir), 'prompts');

const outsideHint = 'Name a file under that folder, or use --prompt-file for one elsewhere.';

function textOf(file: string, what: string, hint: string): string {
  const read = readTextFile(file, mostBytes);
  if ('wrong' in read) throw refused(`prompt/${read.wrong.replaceAll(' ', '-')}`, `${what} ${read.why}.`, hint);
  if (read.cut) throw refused('prompt/too-large', `${what} is ${read.size} bytes long; at most ${mostBytes} are sent.`);
  if (read.text.trim() === '') throw refused('prompt/empty', `${what} is empty.`);
  return read.text;
}

const refused = (code: string, message: string, hint?: string): FairleadError =>
  new FairleadError(code, message, { blame: 'user', ...(hint === undefined ? {} : { hint }) });
