// Removes what a browser does not show from text with HTML: comments, and elements that a style or an attribute hides. Each character is read a bounded number of times.
import { isHiddenColor } from './hidden-colors.ts';

/** A tag with more characters is read as text. */
const maxTagChars = 10_000;
/** No value that hides is longer. */
const maxValueChars = 100;
const voidElements: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);

/** Properties that hide an element; a value is compared in lower case, without comments and spaces. */
const hidingValues: Readonly<Record<string, RegExp>> = {
  display: /^none$/,
  visibility: /^(?:hidden|collapse)$/,
  'content-visibility': /^hidden$/,
  opacity: /^(?:0*\.?0+|0?\.0\d*)%?$/,
  'font-size': /^(?:0|0?\.\d+|1|1\.\d+)(?:px|pt|em|rem|%|vw|vh)?$/,
  'line-height': /^0(?:px|pt|em|rem|%)?$/,
  clip: /^rect\((?:0|1px)/,
  'clip-path': /^(?:inset\((?:50|100)%|circle\(0)/,
  'text-indent': /^-\d{3,}/,
  left: /^-\d{3,}/,
  right: /^-\d{3,}/,
  top: /^-\d{3,}/,
  'margin-left': /^-\d{3,}/,
  transform: /scale\(0\)/,
};
/** These hide only what is too large for the element. */
const zeroSize = /^0(?:px|pt|em|rem|%)?$/;
/** Relative units of these sizes are visible. */
const visibleSize = /^(?:1|1\.\d+|0?\.[3-9]\d*)(?:em|rem)$/;

/** Whether a style hides an element. A style that is written with escapes cannot be read, and counts as hiding. */
export function isHidingStyle(style: string): boolean {
  if (/[\\&]/.test(style)) return true;
  const declarations = new Map<string, string>();
  for (const declaration of removeBetween(style, '/*', '*/').toLowerCase().split(';')) {
    const colon = declaration.indexOf(':');
    if (colon < 0) continue;
    const value = declaration
      .slice(colon + 1)
      .replaceAll(/\s+/g, '')
      .replace('!important', '');
    declarations.set(declaration.slice(0, colon).trim(), value.slice(0, maxValueChars));
  }
  for (const [name, value] of declarations) {
    if (name === 'font-size' && visibleSize.test(value)) continue;
    if (hidingValues[name]?.test(value) === true) return true;
  }
  const isEmpty = [declarations.get('width'), declarations.get('height')].some((size) => size && zeroSize.test(size));
  if (isEmpty && declarations.get('overflow')?.startsWith('hidden') === true) return true;
  return isHiddenColor(
    declarations.get('color') ?? declarations.get('-webkit-text-fill-color'),
    declarations.get('background-color') ?? declarations.get('background'),
  );
}

/** Returns the text without comments and hidden elements. What has no end is removed up to the end of the text. */
export function removeHiddenMarkup(text: string): string {
  if (!text.includes('<')) return text;
  return removeHiddenElements(removeBetween(text, '<!--', '-->', (chars) => formatHidden('an HTML comment', chars)));
}

/** The mark in place of text that was removed. */
export const formatHidden = (what: string, chars: number): string => `[hidden: ${what}, ${chars} characters]`;

function removeBetween(text: string, open: string, close: string, mark?: (chars: number) => string): string {
  let kept = '';
  let end = 0;
  for (let start = text.indexOf(open); start >= 0; start = text.indexOf(open, end)) {
    const closedAt = text.indexOf(close, start + open.length);
    const next = closedAt < 0 ? text.length : closedAt + close.length;
    kept += text.slice(end, start) + (mark?.(next - start) ?? '');
    end = next;
  }
  return kept + text.slice(end);
}

type Tag = { readonly name: string; readonly isClosing: boolean; readonly attributes: string; readonly end: number };

function removeHiddenElements(text: string): string {
  let kept = '';
  let end = 0;
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', Math.max(end, start + 1))) {
    const tag = readTag(text, start);
    if (!tag || tag.isClosing || !isHidingTag(tag)) continue;
    const next = voidElements.has(tag.name) ? tag.end : findElementEnd(text, tag);
    kept += text.slice(end, start) + formatHidden(`an element ${tag.name} that is not displayed`, next - start);
    end = next;
  }
  return kept + text.slice(end);
}

const tagStart = /<(\/?)([a-z][a-z\d:-]{0,60})(?=[\s/>])/iy;

/** Reads a tag, with quotes; undefined if there is none. */
function readTag(text: string, start: number): Tag | undefined {
  tagStart.lastIndex = start;
  const [opening, slash, name = ''] = tagStart.exec(text) ?? [];
  if (opening === undefined) return undefined;
  const first = start + opening.length;
  let quote = '';
  for (let at = first; at < text.length && at - start < maxTagChars; at++) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>')
      return { name: name.toLowerCase(), isClosing: slash === '/', attributes: text.slice(first, at), end: at + 1 };
    else if (character === '<') return undefined;
  }
  return undefined;
}

/** In JSON, quotes have a backslash. Quoted values, attributes in plain words and the rest of unquoted ones; the alternatives share no first character after the name. */
const attributePattern = /([^\s"'=/<>]{1,100})(?:\s{0,20}=\s{0,20}(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?/g;

function isHidingTag({ name, attributes }: Tag): boolean {
  for (const [, key = '', double, single, bare] of attributes
    .replaceAll(String.raw`\"`, '"')
    .matchAll(attributePattern)) {
    const value = double ?? single ?? bare ?? '';
    const lower = key.toLowerCase();
    if (lower === 'hidden') return true;
    if (lower === 'style' && isHidingStyle(value)) return true;
    if (name === 'font' && lower === 'color' && isHiddenColor(value.toLowerCase(), undefined)) return true;
  }
  return false;
}

/** The end of an element: after its closing tag; elements of the same name may be inside. The end of the text if it is not closed. */
function findElementEnd(text: string, { name, end }: Tag): number {
  let depth = 1;
  for (let start = text.indexOf('<', end); start >= 0; start = text.indexOf('<', start + 1)) {
    tagStart.lastIndex = start;
    const [, slash, found] = tagStart.exec(text) ?? [];
    if (found?.toLowerCase() !== name) continue;
    depth += slash === '/' ? -1 : 1;
    if (depth > 0) continue;
    const closed = text.indexOf('>', start);
    return closed < 0 ? text.length : closed + 1;
  }
  return text.length;
}
