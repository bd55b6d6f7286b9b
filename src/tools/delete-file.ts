// The delete_file tool. The content is stored, so that the deletion can be undone by its hash.
import { FairleadError, toolOutput, type Tool, type Workspace } from '../core/index.ts';
import { fileChangeOutput } from './file-change.ts';

/** Creates the delete_file tool. */
export const deleteFile = (workspace: Workspace): Tool => ({
  name: 'delete_file',
  description: 'Delete a file. Its content is stored: restore with its hash brings it back.',
  input: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      restore: {
        type: 'string',
        pattern: '^[0-9a-f]{64}$',
        description: 'Restore the deleted content with this hash.',
      },
    },
    required: ['path'],
    additionalProperties: false,
  },
  effect: 'write',
  async execute(input) {
    const { path, restore } = input as { path: string; restore?: string };
    if (restore !== undefined) {
      await workspace.restore({ path: workspace.locate(path), before: restore, after: null });
      const { path: resolved, text = '' } = await workspace.read(path, { unseen: true });
      return fileChangeOutput(
        `Put ${path} back.`,
        { path: resolved, before: null, after: restore },
        { path, before: '', after: text },
      );
    }
    if (!workspace.remove)
      throw new FairleadError('tool/no-remove', 'Files cannot be deleted here, so nothing was done.', {
        blame: 'user',
      });
    const text = await textBefore(workspace, path);
    const change = await workspace.remove(path);
    const sentence = `Deleted ${path}. To restore it, call this tool with restore ${change.before}.`;
    return text === undefined
      ? toolOutput({ text: sentence, data: { ...change } })
      : fileChangeOutput(sentence, change, { path, before: text, after: '' });
  },
});

/** Returns the text of the file for the diff; undefined if it is too large or not text. */
async function textBefore(workspace: Workspace, path: string): Promise<string | undefined> {
  return (await workspace.read(path, { unseen: true })).text;
}
