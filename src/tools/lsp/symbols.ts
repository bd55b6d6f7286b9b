// The symbols that a document or project declares, and the position of a symbol by name.
import { isObject, escapeInvisibleLine, type Json } from '../../core/index.ts';
import type { OpenDocument } from './documents.ts';
import { splitLines, parseLocations, parseRangeStart, type LspPosition, type LspLocation } from './locations.ts';
import type { LanguageServer } from './server-lifecycle.ts';

const maxSymbolsRead = 2000;
const maxDepth = 20;

const symbolKinds =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter'.split(
    ' ',
  );

/** A declared symbol. */
export type DeclaredSymbol = {
  readonly name: string;
  readonly kind: string;
  /** The enclosing symbols, outermost first. */
  readonly containers: readonly string[];
  readonly location: LspLocation;
};

/** Returns the symbols of a document, in order. */
export async function documentSymbols(
  server: LanguageServer,
  { uri }: OpenDocument,
  signal: AbortSignal,
): Promise<readonly DeclaredSymbol[]> {
  const answer = await server.request('textDocument/documentSymbol', { textDocument: { uri } }, signal);
  const found: DeclaredSymbol[] = [];
  const visit = (items: unknown, within: readonly string[]): void => {
    if (!Array.isArray(items) || within.length > maxDepth) return;
    for (const item of items as readonly unknown[]) {
      if (!isObject(item) || found.length >= maxSymbolsRead) continue;
      const start = parseRangeStart(item['selectionRange']);
      const [spot] = start ? [{ uri, start }] : parseLocations(item['location']);
      const name = symbolName(item);
      if (spot)
        found.push({
          name,
          kind: symbolKind(item),
          containers: within.length ? within : containerNames(item),
          location: spot,
        });
      visit(item['children'], [...within, name]);
    }
  };
  visit(answer, []);
  return found;
}

/** Returns the symbols of the project with similar names. */
export async function workspaceSymbols(
  server: LanguageServer,
  query: string,
  signal: AbortSignal,
): Promise<readonly DeclaredSymbol[]> {
  if (!server.connection.capabilities['workspaceSymbolProvider']) return [];
  const answer = await server.request('workspace/symbol', { query }, signal);
  if (!Array.isArray(answer)) return [];
  return answer.slice(0, maxSymbolsRead).flatMap((item: unknown) => {
    const [spot] = isObject(item) ? parseLocations(item['location']) : [];
    return isObject(item) && spot
      ? [{ name: symbolName(item), kind: symbolKind(item), containers: containerNames(item), location: spot }]
      : [];
  });
}

const symbolName = ({ name }: Readonly<Record<string, unknown>>): string =>
  typeof name === 'string' ? escapeInvisibleLine(name.slice(0, 200)) : '?';

const symbolKind = ({ kind }: Readonly<Record<string, unknown>>): string =>
  (typeof kind === 'number' ? symbolKinds[kind - 1] : undefined) ?? 'symbol';

const containerNames = ({ containerName: name }: Readonly<Record<string, unknown>>): readonly string[] =>
  typeof name === 'string' && name !== '' ? [escapeInvisibleLine(name.slice(0, 200))] : [];

/** Returns true if a declaration matches a name: `method`, or `Class.method`. */
export const matchesSymbolName = ({ name, containers }: DeclaredSymbol, asked: string): boolean =>
  name === asked || [...containers, name].slice(-asked.split('.').length).join('.') === asked;

/** Finds a name as a complete word in a text, on one line if given; lines start at 1. */
export function findMention(text: string, name: string, line?: number): LspPosition | undefined {
  for (const [at, words] of splitLines(text).entries()) {
    if (line !== undefined && at !== line - 1) continue;
    for (let from = words.indexOf(name); from >= 0; from = words.indexOf(name, from + 1))
      if (!isIdentifierChar(words[from - 1]) && !isIdentifierChar(words[from + name.length]))
        return { line: at, character: from };
  }
  return undefined;
}

const isIdentifierChar = (letter: string | undefined): boolean =>
  letter !== undefined && /[\p{L}\p{N}_$]/u.test(letter);

/** Returns a declaration as data. */
export const symbolData = ({ name, kind, containers }: DeclaredSymbol): Json => ({
  name,
  kind,
  within: [...containers],
});
