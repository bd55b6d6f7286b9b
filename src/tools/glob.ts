// Finds files by name pattern.
import { output, visibleLine, type Tool, type Workspace } from '../core/index.ts';
import { walk } from './walk.ts';

const mostShown = 500;

/** The tool that finds files by name. */
export const glob = (workspace: Workspace): Tool => ({
  name: 'glob',
  description: 'Find files by pattern, such as src/**/*.ts. Ignored files are left out.',
  input: {
    type: 'object',
    properties: { pattern: { type: 'string', maxLength: 500 }, path: { type: 'string', description: 'Folder.' } },
    required: ['pattern'],
    additionalProperties: false,
  },
  effect: 'read',
  async run(input, { signal }) {
    const { pattern, path = '.' } = input as { pattern: string; path?: string };
    const { default: match } = await import('picomatch');
    const fits = match(pattern.replace(/^\.\//, ''), { dot: true });
    const found: string[] = [];
    let count = 0;
    for await (const file of walk(workspace, path, signal))
      if (fits(file) && count++ < mostShown) found.push(visibleLine(path === '.' ? file : `${path}/${file}`));
    if (count === 0) return output({ text: `No file matches ${pattern}.`, data: { count } });
    const rest = count > found.length ? [`[${count - found.length} more; use a narrower pattern.]`] : [];
    return output({ text: [...found, ...rest].join('\n'), data: { count } });
  },
});
