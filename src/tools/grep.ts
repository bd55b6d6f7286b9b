// Searches the text of files for a regular expression, line by line, within bounds of time and size.
import { createContext, Script } from 'node:vm';
import { output, visibleLine, type Output, type Tool, type Workspace } from '../core/index.ts';
import { walk } from './walk.ts';

const mostMatches = 200;
const mostBytes = 2 * 1024 * 1024;
const longestLine = 2000;
const mostShown = 300;
const longestMs = 1000;

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
    const lines: string[] = [];
    let files = 0;
    for await (const file of filesFor(workspace, path, wanted.glob, signal)) {
      const { text, bytes } = await workspace
        .read(file, { unseen: true })
        .catch(() => ({ text: undefined, bytes: '' }));
      if (text === undefined || bytes.length > mostBytes) continue;
      const hits = matchesIn(text, regex, mostMatches - lines.length);
      if (!hits) return tooSlow(wanted.pattern);
      if (hits.length) files++;
      lines.push(...hits.map(([number, line]) => `${visibleLine(file)}:${number}:${visibleLine(line)}`));
      if (lines.length >= mostMatches) break;
    }
    if (lines.length === 0) return output({ text: `Nothing matches ${wanted.pattern}.`, data: { matches: 0, files } });
    const rest = lines.length >= mostMatches ? [`[Stopped at ${mostMatches} matches; narrow the search.]`] : [];
    return output({ text: [...lines, ...rest].join('\n'), data: { matches: lines.length, files } });
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

async function* filesFor(
  workspace: Workspace,
  path: string,
  glob: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (await isFile(workspace, path)) return yield path;
  const { default: match } = await import('picomatch');
  const fits = glob === undefined ? () => true : match(glob, { dot: true, basename: !glob.includes('/') });
  for await (const file of walk(workspace, path, signal)) if (fits(file)) yield path === '.' ? file : `${path}/${file}`;
}

const isFile = (workspace: Workspace, path: string): Promise<boolean> =>
  workspace.read(path, { unseen: true }).then(
    () => true,
    () => false,
  );

type Hit = readonly [number: number, line: string];

const sandbox = createContext({ search: undefined as unknown });
const search = new Script('search()');

/** The lines that match; nothing where the pattern takes for ever: only the engine's own watchdog can end a runaway expression. */
function matchesIn(text: string, regex: RegExp, most: number): readonly Hit[] | undefined {
  const lines = text.split('\n');
  const hits: Hit[] = [];
  sandbox['search'] = (): void => {
    for (let i = 0; i < lines.length && hits.length < most; i++) {
      const line = lines[i]?.slice(0, longestLine) ?? '';
      if (regex.test(line)) hits.push([i + 1, line.slice(0, mostShown)]);
    }
  };
  try {
    search.runInContext(sandbox, { timeout: longestMs });
    return hits;
  } catch {
    return undefined;
  }
}

const tooSlow = (pattern: string): Output =>
  output({ failed: true, text: `The search was given up: ${pattern} takes too long to match. Use a simpler pattern.` });
