// The glob tool: finds files by name pattern.
import { toolOutput, escapeInvisibleLine, type Tool, type Workspace } from '../core/index.ts';
import { incompleteWalkNotice, walkFiles } from './walk.ts';
import { completesInTime } from './with-timeout.ts';

const maxShown = 500;

/** Creates the glob tool. */
export const glob = (workspace: Workspace): Tool => ({
  name: 'glob',
  description: 'Find files by pattern, such as src/**/*.ts. Ignored files are skipped.',
  input: {
    type: 'object',
    properties: { pattern: { type: 'string', maxLength: 500 }, path: { type: 'string', description: 'Folder.' } },
    required: ['pattern'],
    additionalProperties: false,
  },
  effect: 'read',
  async execute(input, { signal }) {
    const { pattern, path = '.' } = input as { pattern: string; path?: string };
    let whole = true;
    const all = await Array.fromAsync(walkFiles(workspace, path, signal, () => (whole = false)));
    const found = await matchGlob(pattern, all);
    if (!found) return toolOutput({ failed: true, text: `${pattern} takes too long to match. Use a simpler pattern.` });
    const limits = whole ? [] : [incompleteWalkNotice];
    if (found.length === 0)
      return toolOutput({ text: [`No file matches ${pattern}.`, ...limits].join('\n'), data: { count: 0 } });
    const shown = found.slice(0, maxShown).map((file) => escapeInvisibleLine(path === '.' ? file : `${path}/${file}`));
    const left = found.length - shown.length;
    const rest = left > 0 ? [`[${left} more; use a narrower pattern.]`] : [];
    return toolOutput({ text: [...shown, ...rest, ...limits].join('\n'), data: { count: found.length } });
  },
});

/** Returns the names that match a glob; undefined if that takes too long. With `matchBase`, a glob without a slash matches the last segment. */
export async function matchGlob(
  pattern: string,
  names: readonly string[],
  options: { readonly basename?: boolean } = {},
): Promise<readonly string[] | undefined> {
  const { default: match } = await import('picomatch');
  let found: readonly string[] = [];
  const done = completesInTime(() => {
    const fits = match(pattern.replace(/^\.\//, ''), { dot: true, ...options });
    found = names.filter((name) => fits(name));
  });
  return done ? found : undefined;
}
