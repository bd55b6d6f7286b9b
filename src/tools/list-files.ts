// The list_files tool: names in order, folders with a slash, links with an at sign.
import { toolOutput, escapeInvisibleLine, type DirectoryEntry, type Tool, type Workspace } from '../core/index.ts';

const maxShown = 500;

/** Creates the list_files tool. */
export const listFiles = (workspace: Workspace): Tool => ({
  name: 'list_files',
  description: 'List a folder. Folders end with /.',
  input: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Default: the working folder.' } },
    additionalProperties: false,
  },
  effect: 'read',
  untrustedOutput: true,
  async execute(input) {
    const { path = '.' } = input as { path?: string };
    const { path: found, entries, more } = await workspace.list(path);
    const shown = entries.slice(0, maxShown).map(formatEntry);
    const hiddenCount = entries.length - shown.length;
    const notices =
      hiddenCount > 0 || more ? [`[${hiddenCount}${more ? ' or more' : ''} others are not shown; use glob.]`] : [];
    const text = entries.length ? [...shown, ...notices].join('\n') : '(The folder is empty.)';
    return toolOutput({ text, data: { path: found, count: entries.length } });
  },
});

const typeMarks = { file: '', folder: '/', link: '@', other: '?' } as const;
const formatEntry = ({ name, type }: DirectoryEntry): string => escapeInvisibleLine(name) + typeMarks[type];
