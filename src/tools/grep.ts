// Searches the text of files for a regular expression, line by line, within bounds of time and size. Where there is a ripgrep it names the files to look into.
import {
  FairleadError,
  isSecretFile,
  toolOutput,
  escapeInvisibleLine,
  type ToolOutput,
  type Tool,
  type Workspace,
} from '../core/index.ts';
import { namesLike } from './glob.ts';
import { deepest, notAll, skipped, walk } from './walk.ts';
import { doneInTime } from './watchdog.ts';

const mostMatches = 200;
const longestLine = 2000;
const largest = 4 * 1024 * 1024;
/** Files that are read side by side. */
const together = 16;
const mostShown = 300;
const longestMs = 60_000;

/** How a search finds the files to look into. */
export type GrepOptions = {
  /** Where ripgrep runs, if not in the workspace: in a sandbox it may not be there, and it needs none, for it runs nothing and its answer is checked. */
  readonly runner?: Workspace;
  /** The program; looked for when it is first needed unless given, and `false` for none. */
  readonly ripgrep?: string | false;
};

/** The tool that searches files. */
export const grep = (workspace: Workspace, options: GrepOptions = {}): Tool => {
  const narrow = narrowing(options.runner ?? workspace, options.ripgrep);
  return {
    name: 'grep',
    description:
      'Search files for a regular expression (JavaScript). Gives path:line:text. Ignored, binary and files above 4 MB are left out.',
    input: {
      type: 'object',
      properties: {
        pattern: { type: 'string', maxLength: 1000 },
        path: { type: 'string', description: 'File or folder.' },
        glob: { type: 'string', maxLength: 500, description: 'Only files like *.ts.' },
        ignore_case: { type: 'boolean' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    effect: 'read',
    timeoutMs: longestMs,
    async execute(input, { signal }) {
      const { path = '.', ...wanted } = input as Wanted & { path?: string };
      const regex = regexOf(wanted);
      if (typeof regex === 'string') return toolOutput({ failed: true, text: regex });
      const named = await namedFile(workspace, path);
      if (named === undefined)
        return toolOutput({ failed: true, text: `${escapeInvisibleLine(path)} is above 4 MB: use a command.` });
      let whole = true;
      const search = { path, wanted, narrow, signal, cut: () => (whole = false) };
      const files = named ? [path] : await filesFor(workspace, search);
      if (!files) return tooSlow(wanted.glob ?? '');
      const lines: string[] = [];
      for (let at = 0; at < files.length && lines.length < mostMatches; at += together) {
        signal.throwIfAborted();
        const texts = await Promise.all(files.slice(at, at + together).map((file) => textOf(workspace, file)));
        if (!doneInTime(() => texts.forEach((each) => collect(each, regex, lines)))) return tooSlow(wanted.pattern);
      }
      const remarks = [
        ...(lines.length === 0 ? [`Nothing matches ${wanted.pattern}.`] : []),
        ...(lines.length >= mostMatches ? [`[Stopped at ${mostMatches} matches; narrow the search.]`] : []),
        ...(whole ? [] : [notAll]),
      ];
      return toolOutput({ text: [...lines, ...remarks].join('\n'), data: { matches: lines.length } });
    },
  };
};

type Wanted = { readonly pattern: string; readonly glob?: string; readonly ignore_case?: boolean };

function regexOf({ pattern, ignore_case: folds }: Wanted): RegExp | string {
  try {
    return new RegExp(pattern, folds ? 'i' : '');
  } catch (error) {
    return `The pattern is no regular expression: ${(error as Error).message}.`;
  }
}

type Narrow = (search: Search) => Promise<readonly string[] | undefined>;
type Search = { readonly path: string; readonly wanted: Wanted; readonly signal: AbortSignal };

/** Asks ripgrep which files below a folder may match; nothing where there is none, or it cannot tell. */
function narrowing(runner: Workspace, given: string | false | undefined): Narrow {
  let program = given;
  return async ({ path, wanted, signal }) => {
    if (program === false) return undefined;
    const { findRipgrep, mayMatch } = await import('./ripgrep.ts');
    program ??= findRipgrep(runner) ?? false;
    if (program === false) return undefined;
    const { pattern, glob, ignore_case: folds = false } = wanted;
    try {
      return await mayMatch(runner, program, {
        path,
        pattern,
        folds,
        glob,
        skipped,
        depth: deepest + 1,
        largest,
        signal,
      });
    } catch (error) {
      // It may have been taken away, or nothing may run here: from now on it is done without.
      if (!(error instanceof FairleadError) || !/^(sandbox\/|workspace\/no-program)/.test(error.code)) throw error;
      program = false;
      return undefined;
    }
  };
}

/** The files to search; files of secrets only if they are named. Nothing where the glob takes too long. */
async function filesFor(
  workspace: Workspace,
  search: Search & { readonly narrow: Narrow; readonly cut: () => void },
): Promise<readonly string[] | undefined> {
  const { path, wanted, narrow, signal, cut } = search;
  const { glob } = wanted;
  const all = (await narrow(search)) ?? (await Array.fromAsync(walk(workspace, path, signal, cut)));
  const named = glob === undefined ? all : await namesLike(glob, all, { basename: !glob.includes('/') });
  return named
    ?.map((file) => (path === '.' ? file : `${path}/${file}`))
    .filter((file) => !isSecretFile(file) || isSecretFile(path));
}

/** Whether this is a file; nothing where it is one that is too large to be searched. */
async function namedFile(workspace: Workspace, path: string): Promise<boolean | undefined> {
  try {
    const { bytes } = await workspace.read(path, { unseen: true });
    return bytes.length > largest ? undefined : true;
  } catch {
    return false;
  }
}

type Searched = { readonly file: string; readonly text: string };

/** The text of a file, empty where it has none, cannot be read, or is too large to be searched. */
async function textOf(workspace: Workspace, file: string): Promise<Searched> {
  try {
    const { text = '', bytes } = await workspace.read(file, { unseen: true });
    return { file, text: bytes.length > largest ? '' : text };
  } catch {
    return { file, text: '' };
  }
}

function collect({ file, text }: Searched, regex: RegExp, found: string[]): void {
  const lines = text.split('\n');
  // After the last line break there is no line.
  if (lines.at(-1) === '') lines.pop();
  for (const [i, line] of lines.entries()) {
    if (found.length >= mostMatches) return;
    const match = regex.exec(line.slice(0, longestLine));
    if (match) found.push(`${escapeInvisibleLine(file)}:${i + 1}:${escapeInvisibleLine(around(line, match.index))}`);
  }
}

/** As much of a line as is shown: its beginning, or what stands around a match further on. */
function around(line: string, at: number): string {
  if (at < mostShown - 100) return line.slice(0, mostShown).toWellFormed();
  return `…${line.slice(at - 100, at - 100 + mostShown).toWellFormed()}`;
}

const tooSlow = (pattern: string): ToolOutput =>
  toolOutput({
    failed: true,
    text: `The search was given up: ${pattern} takes too long to match. Use a simpler pattern.`,
  });
