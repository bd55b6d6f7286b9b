// Reads prompts from files: saved ones in the data directory, those that ship with the program, and files that the user names.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isPathInside } from '../../core/index.ts';
import { tryRealPath, resolvesInside, collectFiles, readTextFile } from '../../agent/project-files/index.ts';

const maxPromptBytes = 1_048_576;
const maxPrompts = 1_000;
const maxDepth = 8;

/** Lists the prompts for `/promptfile`: the saved ones and those that ship with the program, as relative paths with slashes, sorted. */
export function listPromptFiles(dataDir: string): readonly string[] {
  return [...new Set([...listPromptsIn(promptsDir(dataDir)), ...listShippedPrompts()])].toSorted();
}

/** Lists the prompts that ship with the program. */
export const listShippedPrompts = (): readonly string[] => listPromptsIn(shippedPromptsDir() ?? '');

function listPromptsIn(dir: string): readonly string[] {
  if (dir === '') return [];
  return collectFiles(dir, maxDepth, maxPrompts)
    .filter(({ name, link }) => !link || resolvesInside(dir, path.join(dir, name)))
    .map(({ name }) => name);
}

/** Reads a saved prompt, or one that ships with the program if there is no saved one of that name. Throws if the path, or the target of a link, is outside the prompts directory. */
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
  const shipped = real === undefined ? findShippedPrompt(name) : undefined;
  return readPromptText(shipped ?? file, `The prompt ${JSON.stringify(name)}`, `Prompts are saved in ${dir}.`);
}

/** Reads a prompt file; a relative path is resolved from the working directory. A name without a file there can be the name of a prompt that ships with the program. */
export function readPromptFile(name: string, cwd: string): string {
  const file = path.resolve(cwd, name);
  const shipped = existsSync(file) ? undefined : findShippedPrompt(name);
  return readPromptText(
    shipped ?? file,
    `The prompt file ${shipped ?? file}`,
    `Use an absolute path, one relative to the working directory, or ${listShippedPrompts().join(', ')}.`,
  );
}

/** The file of a prompt that ships with the program, by its name with or without `.md`. */
function findShippedPrompt(name: string): string | undefined {
  const found = listShippedPrompts().find((each) => each === name || each === `${name}.md`);
  return found === undefined ? undefined : path.join(shippedPromptsDir() ?? '', found);
}

/** The `prompts` directory of the package: three levels above this file in a checkout, one or two above a bundle. */
const shippedPromptsDir = (): string | undefined =>
  ['../../..', '../..', '..']
    .map((up) => path.resolve(import.meta.dirname, up))
    .filter(isPackageRoot)
    .map((root) => path.join(root, 'prompts'))
    .find((dir) => existsSync(dir));

/** Whether this is the root of this package, and not of a program that bundled it. */
function isPackageRoot(dir: string): boolean {
  try {
    return /"name": "fairlead"/.test(readFileSync(path.join(dir, 'package.json'), 'utf8'));
  } catch {
    return false;
  }
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
