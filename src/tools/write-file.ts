// The write_file tool: writes a complete file. An existing file must have been read first.
import type { Tool, Workspace } from '../core/index.ts';
import { lastReadOf } from './last-read.ts';
import { fileChangeOutput } from './file-change.ts';
import { isNotFoundError } from './text.ts';

/** Creates the write_file tool. */
export const writeFile = (workspace: Workspace): Tool => ({
  name: 'write_file',
  description: 'Write a complete file; missing folders are created. An existing file must have been read before.',
  input: {
    type: 'object',
    properties: { path: { type: 'string' }, content: { type: 'string' } },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  effect: 'write',
  async execute(input, { state }) {
    const { path, content } = input as { path: string; content: string };
    const before = await textBefore(workspace, path);
    const change = await workspace.write(path, content, lastReadOf(state, workspace.locate(path)));
    const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
    const size = `${lines} ${lines === 1 ? 'line' : 'lines'}${change.before === null ? ', a new file' : ''}`;
    const sentence =
      change.before === change.after
        ? `No change in ${path} (${size}).`
        : `Written ${Buffer.byteLength(content)} bytes to ${path} (${size}).`;
    return fileChangeOutput(sentence, change, { path, before, after: content });
  },
});

async function textBefore(workspace: Workspace, path: string): Promise<string> {
  try {
    return (await workspace.read(path, { unseen: true })).text ?? '';
  } catch (error) {
    if (isNotFoundError(error)) return '';
    throw error;
  }
}
