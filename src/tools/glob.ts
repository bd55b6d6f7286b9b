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
  untrustedOutput: true,
  async execute(input, { signal }) {
    const { pattern, path = '.' } = input as { pattern: string; path?: string };
    let isComplete = true;
    const files = await Array.fromAsync(walkFiles(workspace, path, signal, () => (isComplete = false)));
    const found = await matchGlob(pattern, files);
    if (!found) return toolOutput({ failed: true, text: `${pattern} takes too long to match. Use a simpler pattern.` });
    const walkNotices = isComplete ? [] : [incompleteWalkNotice];
    if (found.length === 0)
      return toolOutput({ text: [`No file matches ${pattern}.`, ...walkNotices].join('\n'), data: { count: 0 } });
    const shown = found.slice(0, maxShown).map((file) => escapeInvisibleLine(path === '.' ? file : `${path}/${file}`));
    const hiddenCount = found.length - shown.length;
    const notices = hiddenCount > 0 ? [`[${hiddenCount} more; use a narrower pattern.]`] : [];
    return toolOutput({ text: [...shown, ...notices, ...walkNotices].join('\n'), data: { count: found.length } });
  },
});

/** Returns the names that match a glob; undefined if that takes too long. With `basename`, a glob without a slash matches the last segment. */
export async function matchGlob(
  pattern: string,
  names: readonly string[],
  options: { readonly basename?: boolean } = {},
): Promise<readonly string[] | undefined> {
  const { default: match } = await import('picomatch');
  let found: readonly string[] = [];
  const done = completesInTime(() => {
    const matches = match(pattern.replace(/^\.\//, ''), { dot: true, ...options });
    found = names.filter((name) => matches(name));
  });
  return done ? found : undefined;
}
