// Markdown as plain data: the parser that the dashboard and the HTML export share.
export { findCodeEnds, parseInlines, safeUrl, type MarkdownInline } from './parse-inlines.ts';
export { parseMarkdown, type MarkdownBlock } from './parse-markdown.ts';
