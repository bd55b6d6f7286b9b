// The three forms in which data can be written down for a model: Markdown, XML and JSON.
import type { Json } from '../../core/index.ts';
import { asRenderable, isRenderable, plainText, type Renderable } from './renderable.ts';

/** A form in which data can be written down. */
export type RenderFormat = 'markdown' | 'xml' | 'json';

/** Data in one of the forms. */
export const renderAs = (data: Json, format: RenderFormat): string => formatRenderers[format](data);

const formatRenderers: Readonly<Record<RenderFormat, (data: Json) => string>> = {
  markdown: (data) => joinBlocks(markdownBlocks(asRenderable(data), isRenderable(data) ? 1 : 0)),
  xml: (data) => toXml(asRenderable(data), ''),
  json: (data) => JSON.stringify(data, null, 2),
};

const formatTitle = ({ kind, attributes }: Renderable): string =>
  [kind, ...Object.entries(attributes).map(([key, value]) => `${key}: ${plainText(value)}`)].join(', ');

const isLeaf = ({ children }: Renderable): boolean => children.every((child) => typeof child === 'string');

/** Things become headings, their words text; what has a language, or several lines, is a fence that nothing in it can end. */
function markdownBlocks(thing: Renderable, level: number): readonly string[] {
  const { kind, attributes, children } = thing;
  const words = children.filter((child) => typeof child === 'string').join('\n');
  const isTop = level === 0 && kind === 'data';
  if (isLeaf(thing) && Object.keys(attributes).length === 0 && !words.includes('\n'))
    return [isTop ? words : kind === 'item' ? `- ${words}` : `- **${kind}**: ${words}`];
  const inner = children.flatMap((child) =>
    typeof child === 'string' ? [codeFence(child, attributes['language'])] : markdownBlocks(child, level + 1),
  );
  return isTop ? inner : [`${'#'.repeat(Math.min(6, Math.max(1, level)))} ${formatTitle(thing)}`, ...inner];
}

/** Points of a list stand line by line, everything else apart. */
const joinBlocks = (blocks: readonly string[]): string =>
  blocks.reduce((text, block, i) => {
    const isNext = block.startsWith('- ') && (blocks[i - 1] ?? '').startsWith('- ');
    return i === 0 ? block : `${text}${isNext ? '\n' : '\n\n'}${block}`;
  }, '');

function codeFence(text: string, language: Json | undefined): string {
  if (typeof language !== 'string' && !text.includes('\n')) return text;
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${typeof language === 'string' ? language.replaceAll(/[^\w+-]/g, '') : ''}\n${text}\n${fence}`;
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A word that may name a tag. */
const toTagName = (word: string): string => word.replaceAll(/[^\w.-]/g, '_').replace(/^(?![A-Za-z_])/, '_');

function toXml({ kind, attributes, children }: Renderable, indent: string): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${toTagName(key)}="${escapeXml(plainText(value))}"`);
  const open = `${indent}<${toTagName(kind)}${given.join('')}`;
  if (children.length === 0) return `${open}/>`;
  if (children.length === 1 && typeof children[0] === 'string')
    return `${open}>${escapeXml(children[0])}</${toTagName(kind)}>`;
  const inner = children.map((child) => (typeof child === 'string' ? escapeXml(child) : toXml(child, `${indent}  `)));
  return `${open}>\n${inner.join('\n')}\n${indent}</${toTagName(kind)}>`;
}
