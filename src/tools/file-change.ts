// What a change of a file looks like: a sentence for the model, hashes for an undo, a diff for a person.
import { toolOutput, truncateMiddle, escapeInvisibleLine, type FileChange, type ToolOutput } from '../core/index.ts';

const maxDiffChars = 60_000;
const diffTimeoutMs = 500;

/** A file as it was named, and its text before and after. */
export type FileTexts = { readonly path: string; readonly before: string; readonly after: string };

/** The result of a tool that changed a file from one text to another. */
export async function fileChangeOutput(
  sentence: string,
  { path, before, after }: FileChange,
  texts: FileTexts,
): Promise<ToolOutput> {
  return toolOutput({ text: sentence, data: { path, before, after, diff: await createDiff(texts) } });
}

/** A unified diff; a change that is too wild to be compared within half a second only says how large it is. */
async function createDiff({ path, before, after }: FileTexts): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const name = escapeInvisibleLine(path);
  const patch = createTwoFilesPatch(name, name, before, after, undefined, undefined, {
    context: 3,
    timeout: diffTimeoutMs,
    headerOptions: FILE_HEADERS_ONLY,
  });
  if (patch !== undefined) return truncateMiddle(patch, maxDiffChars);
  return `--- ${name}\n+++ ${name}\n(${before.length} characters became ${after.length}: too different to compare)\n`;
}
