// Text files as a model sees them: no byte order mark, and line breaks of one kind where the file has only one kind.
import { FairleadError, escapeInvisibleLine, type FileContent, type Workspace } from '../core/index.ts';

/** A file and its text as shown: CRLF as plain line breaks if the file has no other. */
export async function readTextFile(
  workspace: Workspace,
  path: string,
  options: { readonly unseen?: boolean } = {},
): Promise<{ readonly text: string; readonly content: FileContent & { readonly text: string } }> {
  const content = await workspace.read(path, options);
  const { text } = content;
  if (text === undefined) throw notTextError(path, content.bytes.length);
  return { text: displayText(text), content: { ...content, text } };
}

/** The error for a file that is no text. */
export const notTextError = (path: string, size: number): FairleadError =>
  new FairleadError(
    'tool/not-text',
    `${escapeInvisibleLine(path)} is not text (${size} bytes); use a command to look into it.`,
    {
      blame: 'model',
    },
  );

/** A text as it is shown. */
export function displayText(text: string): string {
  const shown = text.replace(/^\ufeff/, '');
  return isCrlf(text) ? shown.replaceAll('\r\n', '\n') : shown;
}

/** Whether every line break of a text is CRLF, and there is one. */
export const isCrlf = (text: string): boolean => text.includes('\r\n') && !/(?<!\r)\n/.test(text);

/** Whether this error says that there is no such file. */
export const isNotFoundError = (error: unknown): boolean =>
  error instanceof FairleadError && error.code === 'workspace/not-found';
