// Checks that every source file starts with a one-line comment that describes it.
import { isTestFile, type RepoCheck } from './source-tree.ts';

/** Reports files of src, scripts or web whose first line is not a `//` sentence; a `#!` line may precede it. */
export const checkFileHeaders: RepoCheck = (tree) =>
  tree.paths
    .filter((file) => /^(src|scripts|web)\/.*\.m?[tj]sx?$/.test(file) && !isTestFile(file))
    .filter((file) => !hasHeaderSentence(tree.text(file)))
    .map((file) => `${file} does not open with a "//" sentence that says what it is for.`);

function hasHeaderSentence(text: string): boolean {
  const lines = text.split('\n');
  if (lines[0]?.startsWith('#!')) lines.shift();
  const end = lines.findIndex((line) => !line.startsWith('//'));
  const words = lines.slice(0, end < 0 ? undefined : end).map((line) => line.replace(/^\/\/\s?/, ''));
  return /^\S+\s+\S+\s+\S[^]*?[.!?]/.test(words.join(' '));
}
