// Chooses how a file is split into passages by its extension and its first line.
import type { Passage } from '../types.ts';
import { htmlToText } from './html-to-text.ts';
import { isCodeExtension, splitCode } from './split-code.ts';
import { splitMarkdown } from './split-markdown.ts';
import { isSessionLog, splitJsonLines, splitSessionLog } from './split-records.ts';
import { splitText } from './split-text.ts';

/** Max passages of one file; what is after them is not indexed. */
export const maxPassagesPerFile = 20_000;

/** Splits the text of a file into passages with titles and lines. */
export function splitDocument(path: string, text: string): readonly Passage[] {
  const passages = splitByType(path, text.includes('\r') ? text.replaceAll('\r\n', '\n') : text);
  return passages.length > maxPassagesPerFile ? passages.slice(0, maxPassagesPerFile) : passages;
}

function splitByType(path: string, text: string): readonly Passage[] {
  const extension = extensionOf(path);
  if (extension === 'md' || extension === 'markdown' || extension === 'mdx') return splitMarkdown(text);
  if (extension === 'html' || extension === 'htm' || extension === 'xhtml') {
    const page = htmlToText(text);
    const lineOf = (line: number): number => page.lines[line - 1] ?? line;
    return splitMarkdown(page.text).map((each) => ({
      ...each,
      title: joinTitles(page.title, each.title),
      lines: [lineOf(each.lines[0]), lineOf(each.lines[1])],
    }));
  }
  if (extension === 'jsonl' || extension === 'ndjson')
    return isSessionLog(text) ? splitSessionLog(text) : splitJsonLines(text);
  return isCodeExtension(extension) ? splitCode(text, extension) : splitText(text);
}

/** The readable text of a document as a whole. */
export type ReadableText = {
  readonly text: string;
  /** The title of a page, which is not in its text. */
  readonly title: string;
  /** The line of the source of each line of the text, from 1; absent if they are the same. */
  readonly lines?: readonly number[];
};

/** The text of a document as it is split into passages. Records and messages of a JSONL file are no parts of one text. */
export function readText(path: string, text: string): ReadableText {
  const plain = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  return /^x?html?$/.test(extensionOf(path)) ? htmlToText(plain) : { text: plain, title: '' };
}

const proseName = /^(?:readme|licen[cs]e|copying|notice|changelog|changes|news|install|contributing|authors)$/i;

/** Whether the sentences of a file are statements to a reader: Markdown, HTML, PDF and plain text, no code, data or configuration. */
export function isProse(path: string): boolean {
  const extension = extensionOf(path);
  if (extension === '') return proseName.test(path.slice(path.lastIndexOf('/') + 1));
  return /^(?:md|markdown|mdx|html?|xhtml|pdf|txt|text)$/.test(extension);
}

/** The extension of a path in lower case, without the dot. */
export const extensionOf = (path: string): string =>
  /\.([a-z\d]{1,12})$/i.exec(path.slice(-14))?.[1]?.toLowerCase() ?? '';

const joinTitles = (...titles: readonly string[]): string => [...new Set(titles.filter(Boolean))].join(' > ');

/** The words by which the title of a passage is found: the path, the title, and the parts of names such as `parseArgs`. A record is found by its own title only. */
export function searchableTitle(path: string, passage: Passage): string {
  if (passage.id !== undefined) return passage.title;
  const title = `${path} ${passage.title}`;
  const parts = title.match(/[\p{Lu}]?[\p{Ll}\d]+|\p{Lu}+(?!\p{Ll})/gu) ?? [];
  return /\p{Ll}\p{Lu}/u.test(title) ? `${title} ${parts.join(' ')}` : title;
}
