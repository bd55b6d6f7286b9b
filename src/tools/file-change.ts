// The result of a file change: a sentence for the model, hashes for undo, a diff for the user.
import { toolOutput, truncateMiddle, escapeInvisibleLine, type FileChange, type ToolOutput } from '../core/index.ts';

const maxDiffChars = 60_000;
const diffTimeoutMs = 500;

/** A path as given, with its text before and after. */
export type FileTexts = { readonly path: string; readonly before: string; readonly after: string };

/** Creates the result of a tool that changed a file. */
export async function fileChangeOutput(
  sentence: string,
  { path, before, after }: FileChange,
  texts: FileTexts,
): Promise<ToolOutput> {
  return toolOutput({ text: sentence, data: { path, before, after, diff: await createDiff(texts) } });
}

/** Creates the diff for the user. If the comparison takes more than half a second, only the size of the change is given. */
async function createDiff(texts: FileTexts): Promise<string> {
  const patch = await createUnifiedDiff(texts);
  if (patch !== undefined) return truncateMiddle(patch, maxDiffChars);
  const { before, after } = texts;
  const name = escapeInvisibleLine(texts.path);
  return `--- ${name}\n+++ ${name}\n(${before.length} characters became ${after.length}: too different to compare)\n`;
}

/** Creates a unified diff; absent if the comparison takes more than half a second. */
export async function createUnifiedDiff({ path, before, after }: FileTexts): Promise<string | undefined> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const name = escapeInvisibleLine(path);
  return createTwoFilesPatch(name, name, before, after, undefined, undefined, {
    context: 3,
    timeout: diffTimeoutMs,
    headerOptions: FILE_HEADERS_ONLY,
  });
}
