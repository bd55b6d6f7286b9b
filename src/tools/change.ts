// What a change of a file looks like: a sentence for the model, hashes for an undo, a diff for a person.
import { output, shorten, visibleLine, type Change, type Output } from '../core/index.ts';

const mostDiff = 60_000;
const longestMs = 500;

/** The result of a tool that changed a file from one text to another. */
export async function changed(sentence: string, change: Change, before: string, after: string): Promise<Output> {
  const { path } = change;
  return output({
    text: sentence,
    data: { path, before: change.before, after: change.after, diff: await diffOf(path, before, after) },
  });
}

/** A unified diff; a change that is too wild to be compared within half a second only says how large it is. */
async function diffOf(path: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch } = await import('diff');
  const name = visibleLine(path);
  const patch = createTwoFilesPatch(name, name, before, after, undefined, undefined, {
    context: 3,
    timeout: longestMs,
  });
  if (patch !== undefined) return shorten(patch.replace(/^=+\n/, ''), mostDiff);
  return `--- ${name}\n+++ ${name}\n(${before.length} characters became ${after.length}: too different to compare)\n`;
}
