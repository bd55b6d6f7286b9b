// The names that a document or a project declares, as servers tell them, and where a name is that somebody asks about.
import { isObject, escapeInvisibleLine, type Json } from '../../core/index.ts';
import type { Document } from './documents.ts';
import { linesOf, spotsIn, startOf, type Position, type Spot } from './places.ts';
import type { LanguageServer } from './slot.ts';

const mostRead = 2000;
const deepest = 20;

const kinds =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter'.split(
    ' ',
  );

/** A declared name. */
export type Declared = {
  readonly name: string;
  readonly kind: string;
  /** The names around it, outermost first. */
  readonly within: readonly string[];
  readonly spot: Spot;
};

/** What a document declares, in its order. */
export async function declaredIn(
  server: LanguageServer,
  { uri }: Document,
  signal: AbortSignal,
): Promise<readonly Declared[]> {
  const answer = await server.request('textDocument/documentSymbol', { textDocument: { uri } }, signal);
  const found: Declared[] = [];
  const visit = (items: unknown, within: readonly string[]): void => {
    if (!Array.isArray(items) || within.length > deepest) return;
    for (const item of items as readonly unknown[]) {
      if (!isObject(item) || found.length >= mostRead) continue;
      const start = startOf(item['selectionRange']);
      const [spot] = start ? [{ uri, start }] : spotsIn(item['location']);
      const name = nameOf(item);
      if (spot) found.push({ name, kind: kindOf(item), within: within.length ? within : around(item), spot });
      visit(item['children'], [...within, name]);
    }
  };
  visit(answer, []);
  return found;
}

/** What the whole project declares under names like this one. */
export async function declaredLike(
  server: LanguageServer,
  query: string,
  signal: AbortSignal,
): Promise<readonly Declared[]> {
  if (!server.live.capabilities['workspaceSymbolProvider']) return [];
  const answer = await server.request('workspace/symbol', { query }, signal);
  if (!Array.isArray(answer)) return [];
  return answer.slice(0, mostRead).flatMap((item: unknown) => {
    const [spot] = isObject(item) ? spotsIn(item['location']) : [];
    return isObject(item) && spot ? [{ name: nameOf(item), kind: kindOf(item), within: around(item), spot }] : [];
  });
}

const nameOf = ({ name }: Readonly<Record<string, unknown>>): string =>
  typeof name === 'string' ? escapeInvisibleLine(name.slice(0, 200)) : '?';

const kindOf = ({ kind }: Readonly<Record<string, unknown>>): string =>
  (typeof kind === 'number' ? kinds[kind - 1] : undefined) ?? 'symbol';

const around = ({ containerName: name }: Readonly<Record<string, unknown>>): readonly string[] =>
  typeof name === 'string' && name !== '' ? [escapeInvisibleLine(name.slice(0, 200))] : [];

/** Whether a declaration is what somebody calls by this name: `method`, or `Class.method`. */
export const isCalled = ({ name, within }: Declared, asked: string): boolean =>
  name === asked || [...within, name].slice(-asked.split('.').length).join('.') === asked;

/** Where a name stands by itself in a text, on one line where that is given; lines begin at 1. */
export function mentionOf(text: string, name: string, line?: number): Position | undefined {
  for (const [at, words] of linesOf(text).entries()) {
    if (line !== undefined && at !== line - 1) continue;
    for (let from = words.indexOf(name); from >= 0; from = words.indexOf(name, from + 1))
      if (!isLetter(words[from - 1]) && !isLetter(words[from + name.length])) return { line: at, character: from };
  }
  return undefined;
}

const isLetter = (letter: string | undefined): boolean => letter !== undefined && /[\p{L}\p{N}_$]/u.test(letter);

/** A declaration as data. */
export const declaredData = ({ name, kind, within }: Declared): Json => ({ name, kind, within: [...within] });
