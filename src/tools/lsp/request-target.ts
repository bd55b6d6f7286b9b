// Resolves the target of a query: the server, its document, and the position, found by symbol name if not given.
import path from 'node:path';
import { escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { walkFiles } from '../walk.ts';
import type { OpenDocument } from './documents.ts';
import { uriToPath, splitLines, type LspPosition } from './locations.ts';
import { lspError } from './rpc.ts';
import type { LanguageServers } from './servers.ts';
import type { LanguageServer } from './server-lifecycle.ts';
import { documentSymbols, workspaceSymbols, matchesSymbolName, findMention } from './symbols.ts';

const maxCountedFiles = 3000;

/** The query of a model. */
export type CodeQuery = {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly symbol?: string;
  readonly new_name?: string;
};

/** A server with the document of a query; for a folder, with one of its files. */
export type RequestTarget = {
  readonly server: LanguageServer;
  readonly document: OpenDocument;
  readonly isFile: boolean;
};

/** Starts the server if needed, and opens the document. */
export async function resolveTarget(
  workspace: Workspace,
  servers: LanguageServers,
  { path: given }: CodeQuery,
  signal: AbortSignal,
): Promise<RequestTarget> {
  const isFolder = await workspace.list(given).then(
    () => true,
    () => false,
  );
  const file = isFolder ? await representativeFile(workspace, servers, given, signal) : given;
  // Read first, so that a wrong path starts no server.
  if (!isFolder) await workspace.read(file, { unseen: true });
  const server = await servers.open(file, signal);
  return { server, document: await server.openDocument(file, signal), isFile: !isFolder };
}

/** Returns a file of the most frequent supported kind in a folder. */
async function representativeFile(
  workspace: Workspace,
  servers: LanguageServers,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const byEnding = new Map<string, { readonly first: string; readonly count: number }>();
  let counted = 0;
  for await (const file of walkFiles(workspace, folder, signal)) {
    if (!servers.supports(file)) continue;
    const { first = file, count = 0 } = byEnding.get(path.extname(file)) ?? {};
    byEnding.set(path.extname(file), { first, count: count + 1 });
    if (++counted >= maxCountedFiles) break;
  }
  const first = [...byEnding.values()].toSorted((a, b) => b.count - a.count)[0]?.first;
  if (first === undefined)
    throw lspError('lsp/no-server', `No language server is known for the files in ${escapeInvisibleLine(folder)}.`);
  return path.join(folder, first);
}

/** Returns the URI and position of a query; a sentence if they cannot be determined. */
export async function resolvePosition(
  { server, document, isFile }: RequestTarget,
  { line, column, symbol }: CodeQuery,
  signal: AbortSignal,
): Promise<{ readonly uri: string; readonly position: LspPosition } | string> {
  const { uri, text } = document;
  if (isFile && line !== undefined && (column !== undefined || symbol === undefined)) {
    const words = splitLines(text)[line - 1];
    if (words === undefined) return `There is no line ${line}: the file has ${splitLines(text).length} lines.`;
    const character = column === undefined ? words.search(/[\p{L}_$]/u) : column - 1;
    if (character < 0 || character > words.length) return `Line ${line} has no column ${column ?? 'with a name'}.`;
    return { uri, position: { line: line - 1, character } };
  }
  if (symbol === undefined) return 'Give a line and a column, or a symbol.';
  const name = symbol.split('.').at(-1) ?? symbol;
  const mention = isFile && line !== undefined ? findMention(text, name, line) : undefined;
  if (mention) return { uri, position: mention };
  if (isFile && line !== undefined) return `${escapeInvisibleLine(symbol)} is not in line ${line}.`;
  return (
    (await positionByName(server, document, isFile, symbol, signal)) ??
    `There is no symbol named ${escapeInvisibleLine(symbol)}.`
  );
}

/** Finds a name that is declared in the document, mentioned there, or declared anywhere in the project. */
async function positionByName(
  server: LanguageServer,
  document: OpenDocument,
  isFile: boolean,
  symbol: string,
  signal: AbortSignal,
): Promise<{ readonly uri: string; readonly position: LspPosition } | undefined> {
  const name = symbol.split('.').at(-1) ?? symbol;
  if (isFile) {
    const own = await documentSymbols(server, document, signal);
    const declared = own.find((each) => matchesSymbolName(each, symbol));
    const position = declared?.location.start ?? findMention(document.text, name);
    if (position) return { uri: document.uri, position };
  }
  const all = await workspaceSymbols(server, name, signal);
  const found = all.find((each) => matchesSymbolName(each, symbol)) ?? all.find((each) => each.name === name);
  const file = found && uriToPath(found.location.uri);
  if (!found || file === undefined) return undefined;
  const shown = await server.openDocument(file, signal);
  return { uri: shown.uri, position: found.location.start };
}
