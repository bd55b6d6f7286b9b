// Reads text files for a model: without byte order mark, and with normalized line endings if the file uses one kind.
import { FairleadError, escapeInvisibleLine, type FileContent, type Workspace } from '../core/index.ts';

/** Returns a file and its text as shown: CRLF becomes LF if the file has no other line breaks. */
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

/** Creates the error of a file that is not text. */
export const notTextError = (path: string, size: number): FairleadError =>
  new FairleadError(
    'tool/not-text',
    `${escapeInvisibleLine(path)} is not text (${size} bytes); use a command to inspect it.`,
    {
      blame: 'model',
    },
  );

/** Returns a text as it is shown. */
export function displayText(text: string): string {
  const shown = text.replace(/^\ufeff/, '');
  return isCrlf(text) ? shown.replaceAll('\r\n', '\n') : shown;
}

/** Returns true if a text has line breaks and all are CRLF. */
export const isCrlf = (text: string): boolean => text.includes('\r\n') && !/(?<!\r)\n/.test(text);

/** Returns true if an error says that a file does not exist. */
export const isNotFoundError = (error: unknown): boolean =>
  error instanceof FairleadError && error.code === 'workspace/not-found';
