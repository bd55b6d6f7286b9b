// Searches the text of files for a regular expression, line by line, within bounds of time and size.
import { looksSecret, output, visibleLine, type Output, type Tool, type Workspace } from '../core/index.ts';
import { namesLike } from './glob.ts';
import { walk } from './walk.ts';
import { doneInTime } from './watchdog.ts';

const mostMatches = 200;
const longestLine = 2000;
const largest = 4 * 1024 * 1024;
/** Files that are read side by side. */
const together = 16;
const mostShown = 300;

/** The tool that searches files. */
export const grep = (workspace: Workspace): Tool => ({
  name: 'grep',
  description: 'Search files for a regular expression (JavaScript). Gives path:line:text.',
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
  async run(input, { signal }) {
    const { path = '.', ...wanted } = input as Wanted & { path?: string };
    const regex = regexOf(wanted);
    if (typeof regex === 'string') return output({ failed: true, text: regex });
    const files = await filesFor(workspace, path, wanted.glob, signal);
    if (!files) return tooSlow(wanted.glob ?? '');
    const lines: string[] = [];
    let closed = 0;
    for (let at = 0; at < files.length && lines.length < mostMatches; at += together) {
      signal.throwIfAborted();
      const texts = await Promise.all(files.slice(at, at + together).map((file) => textOf(workspace, file)));
      closed += texts.filter((each) => each.text === undefined).length;
      if (!doneInTime(() => texts.forEach((each) => collect(each, regex, lines)))) return tooSlow(wanted.pattern);
    }
    const remarks = [
      ...(lines.length === 0 ? [`Nothing matches ${wanted.pattern}.`] : []),
      ...(lines.length >= mostMatches ? [`[Stopped at ${mostMatches} matches; narrow the search.]`] : []),
      ...(closed > 0 ? [`[${closed} of ${files.length} files could not be read, or are too large.]`] : []),
    ];
    return output({ text: [...lines, ...remarks].join('\n'), data: { matches: lines.length } });
  },
});

type Wanted = { readonly pattern: string; readonly glob?: string; readonly ignore_case?: boolean };

function regexOf({ pattern, ignore_case: folds }: Wanted): RegExp | string {
  try {
    return new RegExp(pattern, folds ? 'i' : '');
  } catch (error) {
    return `The pattern is no regular expression: ${(error as Error).message}.`;
  }
}

/** The files to search; files of secrets only if they are named. Nothing where the glob takes too long. */
async function filesFor(
  workspace: Workspace,
  path: string,
  glob: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (await isFile(workspace, path)) return [path];
  const all = await Array.fromAsync(walk(workspace, path, signal));
  const wanted = glob === undefined ? all : await namesLike(glob, all, { basename: !glob.includes('/') });
  return wanted
    ?.map((file) => (path === '.' ? file : `${path}/${file}`))
    .filter((file) => !looksSecret(file) || looksSecret(path));
}

const isFile = (workspace: Workspace, path: string): Promise<boolean> =>
  workspace.read(path, { unseen: true }).then(
    () => true,
    () => false,
  );

type Searched = { readonly file: string; readonly text: string | undefined };

/** The text of a file, empty where it has none; nothing where it cannot be read, or is too large to be searched. */
async function textOf(workspace: Workspace, file: string): Promise<Searched> {
  try {
    const { text = '', bytes } = await workspace.read(file, { unseen: true });
    return { file, text: bytes.length > largest ? undefined : text };
  } catch {
    return { file, text: undefined };
  }
}

function collect({ file, text = '' }: Searched, regex: RegExp, lines: string[]): void {
  for (const [i, line] of text.split('\n').entries()) {
    if (lines.length >= mostMatches) return;
    const start = line.slice(0, longestLine);
    if (regex.test(start)) lines.push(`${visibleLine(file)}:${i + 1}:${visibleLine(start.slice(0, mostShown))}`);
  }
}

const tooSlow = (pattern: string): Output =>
  output({ failed: true, text: `The search was given up: ${pattern} takes too long to match. Use a simpler pattern.` });
