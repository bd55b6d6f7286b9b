// The grep tool: searches file content for a regular expression, line by line, with time and size limits. Uses ripgrep, if available, to find candidate files.
import {
  FairleadError,
  isSecretFile,
  skippedNames,
  toolOutput,
  escapeInvisibleLine,
  type ToolOutput,
  type Tool,
  type Workspace,
} from '../core/index.ts';
import { matchGlob } from './glob.ts';
import { maxWalkDepth, incompleteWalkNotice, walkFiles } from './walk.ts';
import { completesInTime } from './with-timeout.ts';

const maxMatches = 200;
const maxLineLength = 2000;
const maxFileBytes = 4 * 1024 * 1024;
/** Number of files read in parallel. */
const concurrentReads = 16;
const maxShownChars = 300;
const searchTimeoutMs = 60_000;

/** Options of grep. */
export type GrepOptions = {
  /** Where ripgrep runs, if not in the workspace: a sandbox without write access in which `findRipgrepFolders` are readable. */
  readonly runner?: Workspace;
  /** The ripgrep program. By default it is searched for on first use; `false` disables it. */
  readonly ripgrep?: string | false;
};

/** Returns the folders of the packaged ripgrep, which a sandbox must make readable. */
export const findRipgrepFolders = async (): Promise<readonly string[]> =>
  (await import('./ripgrep.ts')).packagedRipgrepFolders();

/** Creates the grep tool. */
export const grep = (workspace: Workspace, options: GrepOptions = {}): Tool => {
  const narrow = createNarrower(options.runner ?? workspace, options.ripgrep);
  return {
    name: 'grep',
    description:
      'Search files for a regular expression (JavaScript). Returns path:line:text. Ignored, binary and files above 4 MB are skipped.',
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
    untrustedOutput: true,
    timeoutMs: searchTimeoutMs,
    async execute(input, { signal }) {
      const { path = '.', ...query } = input as GrepInput & { path?: string };
      const regex = compileRegex(query);
      if (typeof regex === 'string') return toolOutput({ failed: true, text: regex });
      const isFile = await isSearchableFile(workspace, path);
      if (isFile === undefined)
        return toolOutput({ failed: true, text: `${escapeInvisibleLine(path)} is above 4 MB: use a command.` });
      let isComplete = true;
      const search = { path, query, narrow, signal, onTruncated: () => (isComplete = false) };
      const files = isFile ? [path] : await filesToSearch(workspace, search);
      if (!files) return timeoutOutput(query.glob ?? '');
      const lines: string[] = [];
      for (let at = 0; at < files.length && lines.length < maxMatches; at += concurrentReads) {
        signal.throwIfAborted();
        const texts = await Promise.all(
          files.slice(at, at + concurrentReads).map((file) => readSearchText(workspace, file)),
        );
        if (!completesInTime(() => texts.forEach((each) => collectMatches(each, regex, lines))))
          return timeoutOutput(query.pattern);
      }
      const notices = [
        ...(lines.length === 0 ? [`Nothing matches ${query.pattern}.`] : []),
        ...(lines.length >= maxMatches ? [`[Stopped at ${maxMatches} matches; narrow the search.]`] : []),
        ...(isComplete ? [] : [incompleteWalkNotice]),
      ];
      return toolOutput({ text: [...lines, ...notices].join('\n'), data: { matches: lines.length } });
    },
  };
};

type GrepInput = { readonly pattern: string; readonly glob?: string; readonly ignore_case?: boolean };

function compileRegex({ pattern, ignore_case: ignoreCase }: GrepInput): RegExp | string {
  try {
    return new RegExp(pattern, ignoreCase ? 'i' : '');
  } catch (error) {
    return `The pattern is not a valid regular expression: ${(error as Error).message}.`;
  }
}

type FileNarrower = (search: GrepSearch) => Promise<readonly string[] | undefined>;
type GrepSearch = { readonly path: string; readonly query: GrepInput; readonly signal: AbortSignal };

/** Asks ripgrep which files below a folder may match; undefined if it is not available or the answer is uncertain. */
function createNarrower(runner: Workspace, configured: string | false | undefined): FileNarrower {
  let program = configured;
  return async ({ path, query, signal }) => {
    if (program === false) return undefined;
    const { findRipgrep, findCandidateFiles } = await import('./ripgrep.ts');
    program ??= findRipgrep(runner) ?? false;
    if (program === false) return undefined;
    const { pattern, glob, ignore_case: ignoreCase = false } = query;
    try {
      return await findCandidateFiles(runner, program, {
        path,
        pattern,
        ignoreCase,
        glob,
        excludedNames: skippedNames,
        maxDepth: maxWalkDepth + 1,
        maxFileBytes,
        signal,
      });
    } catch (error) {
      // It may have been removed, or commands may not run here: from now on ripgrep is not used.
      if (!(error instanceof FairleadError) || !/^(sandbox\/|workspace\/no-program)/.test(error.code)) throw error;
      program = false;
      return undefined;
    }
  };
}

/** Returns the files to search. Files that may hold secrets are included only if named. Undefined if the glob takes too long. */
async function filesToSearch(
  workspace: Workspace,
  search: GrepSearch & { readonly narrow: FileNarrower; readonly onTruncated: () => void },
): Promise<readonly string[] | undefined> {
  const { path, query, narrow, signal, onTruncated } = search;
  const { glob } = query;
  const candidates = (await narrow(search)) ?? (await Array.fromAsync(walkFiles(workspace, path, signal, onTruncated)));
  const matching =
    glob === undefined ? candidates : await matchGlob(glob, candidates, { basename: !glob.includes('/') });
  return matching
    ?.map((file) => (path === '.' ? file : `${path}/${file}`))
    .filter((file) => !isSecretFile(file) || isSecretFile(path));
}

/** Returns true for a file, false for a folder, undefined for a file that is too large to search. */
async function isSearchableFile(workspace: Workspace, path: string): Promise<boolean | undefined> {
  try {
    if (await isTooLarge(workspace, path)) return undefined;
    const { bytes } = await workspace.read(path, { unseen: true });
    return bytes.length > maxFileBytes ? undefined : true;
  } catch {
    return false;
  }
}

type SearchedFile = { readonly file: string; readonly text: string };

/** Returns the text of a file; empty if it is not text, cannot be read, or is too large. */
async function readSearchText(workspace: Workspace, file: string): Promise<SearchedFile> {
  try {
    if (await isTooLarge(workspace, file)) return { file, text: '' };
    const { text = '', bytes } = await workspace.read(file, { unseen: true });
    return { file, text: bytes.length > maxFileBytes ? '' : text };
  } catch {
    return { file, text: '' };
  }
}

/** Returns true if a file is known to be too large, without reading it. */
const isTooLarge = async (workspace: Workspace, file: string): Promise<boolean> =>
  ((await workspace.stamp?.(file))?.size ?? 0) > maxFileBytes;

function collectMatches({ file, text }: SearchedFile, regex: RegExp, found: string[]): void {
  const lines = text.split('\n');
  // There is no line after the last line break.
  if (lines.at(-1) === '') lines.pop();
  for (const [i, line] of lines.entries()) {
    if (found.length >= maxMatches) return;
    const match = regex.exec(line.slice(0, maxLineLength));
    if (match)
      found.push(`${escapeInvisibleLine(file)}:${i + 1}:${escapeInvisibleLine(excerptAround(line, match.index))}`);
  }
}

/** Returns the shown part of a line: its start, or the text around a later match. */
function excerptAround(line: string, at: number): string {
  if (at < maxShownChars - 100) return line.slice(0, maxShownChars).toWellFormed();
  return `…${line.slice(at - 100, at - 100 + maxShownChars).toWellFormed()}`;
}

const timeoutOutput = (pattern: string): ToolOutput =>
  toolOutput({
    failed: true,
    text: `The search was stopped: ${pattern} takes too long to match. Use a simpler pattern.`,
  });
