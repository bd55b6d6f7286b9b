// Renders data for a model as Markdown, XML or JSON.
import { longestMatch } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { asRenderable, isRenderable, plainText, type Renderable } from './renderable.ts';

/** An output format of data. */
export type RenderFormat = 'markdown' | 'xml' | 'json';

/** Renders data in a format. */
export const renderAs = (data: Json, format: RenderFormat): string => formatRenderers[format](data);

const formatRenderers: Readonly<Record<RenderFormat, (data: Json) => string>> = {
  markdown: (data) => joinBlocks(markdownBlocks(asRenderable(data), isRenderable(data) ? 1 : 0)),
  xml: (data) => toXml(asRenderable(data), ''),
  json: (data) => JSON.stringify(data, null, 2),
};

const formatTitle = ({ kind, attributes }: Renderable): string =>
  [kind, ...Object.entries(attributes).map(([key, value]) => `${key}: ${plainText(value)}`)].join(', ');

const isLeaf = ({ children }: Renderable): boolean => children.every((child) => typeof child === 'string');

/** Nested items become headings, strings become text. A string with a language or several lines becomes a code fence that its content cannot close. */
function markdownBlocks(node: Renderable, level: number): readonly string[] {
  const { kind, attributes, children } = node;
  const text = children.filter((child) => typeof child === 'string').join('\n');
  const isTop = level === 0 && kind === 'data';
  if (isLeaf(node) && Object.keys(attributes).length === 0 && !text.includes('\n'))
    return [isTop ? text : kind === 'item' ? `- ${text}` : `- **${kind}**: ${text}`];
  const inner = children.flatMap((child) =>
    typeof child === 'string' ? [codeFence(child, attributes['language'])] : markdownBlocks(child, level + 1),
  );
  return isTop ? inner : [`${'#'.repeat(Math.min(6, Math.max(1, level)))} ${formatTitle(node)}`, ...inner];
}

/** Joins list items by lines, everything else by blank lines. */
const joinBlocks = (blocks: readonly string[]): string =>
  blocks.reduce((text, block, i) => {
    const isNext = block.startsWith('- ') && (blocks[i - 1] ?? '').startsWith('- ');
    return i === 0 ? block : `${text}${isNext ? '\n' : '\n\n'}${block}`;
  }, '');

function codeFence(text: string, language: Json | undefined): string {
  if (typeof language !== 'string' && !text.includes('\n')) return text;
  const longest = longestMatch(text, /`{3,}/g, 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${typeof language === 'string' ? language.replaceAll(/[^\w+-]/g, '') : ''}\n${text}\n${fence}`;
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Converts a word to a valid tag name. */
const toTagName = (word: string): string => word.replaceAll(/[^\w.-]/g, '_').replace(/^(?![A-Za-z_])/, '_');

function toXml({ kind, attributes, children }: Renderable, indent: string): string {
  const attributeTexts = Object.entries(attributes).map(
    ([key, value]) => ` ${toTagName(key)}="${escapeXml(plainText(value))}"`,
  );
  const open = `${indent}<${toTagName(kind)}${attributeTexts.join('')}`;
  if (children.length === 0) return `${open}/>`;
  if (children.length === 1 && typeof children[0] === 'string')
    return `${open}>${escapeXml(children[0])}</${toTagName(kind)}>`;
  const inner = children.map((child) => (typeof child === 'string' ? escapeXml(child) : toXml(child, `${indent}  `)));
  return `${open}>\n${inner.join('\n')}\n${indent}</${toTagName(kind)}>`;
}
