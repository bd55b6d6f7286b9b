// What a question is about: the server for it, its document there, and the position, found by name where none was given.
import path from 'node:path';
import { escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { walk } from '../walk.ts';
import type { Document } from './documents.ts';
import { fileOf, linesOf, type Position } from './places.ts';
import { fault } from './rpc.ts';
import type { LanguageServers } from './servers.ts';
import type { LanguageServer } from './slot.ts';
import { declaredIn, declaredLike, isCalled, mentionOf } from './symbols.ts';

const mostCounted = 3000;

/** What a model asks about. */
export type Question = {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly symbol?: string;
  readonly new_name?: string;
};

/** A server with the document that a question names; where it named a folder, with one of its files. */
export type Aim = { readonly server: LanguageServer; readonly document: Document; readonly isFile: boolean };

/** Starts the server if it must, and shows it the document. */
export async function aimAt(
  workspace: Workspace,
  servers: LanguageServers,
  { path: given }: Question,
  signal: AbortSignal,
): Promise<Aim> {
  const isFolder = await workspace.list(given).then(
    () => true,
    () => false,
  );
  const file = isFolder ? await commonFile(workspace, servers, given, signal) : given;
  // Read first, so that a path that is wrong starts nothing.
  if (!isFolder) await workspace.read(file, { unseen: true });
  const server = await servers.open(file, signal);
  return { server, document: await server.show(file, signal), isFile: !isFolder };
}

/** A file of the kind that most files of a folder are of, out of those that a server is known for. */
async function commonFile(
  workspace: Workspace,
  servers: LanguageServers,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const byEnding = new Map<string, { readonly first: string; readonly count: number }>();
  let counted = 0;
  for await (const file of walk(workspace, folder, signal)) {
    if (!servers.knows(file)) continue;
    const { first = file, count = 0 } = byEnding.get(path.extname(file)) ?? {};
    byEnding.set(path.extname(file), { first, count: count + 1 });
    if (++counted >= mostCounted) break;
  }
  const first = [...byEnding.values()].toSorted((a, b) => b.count - a.count)[0]?.first;
  if (first === undefined)
    throw fault('lsp/no-server', `No language server is known for the files in ${escapeInvisibleLine(folder)}.`);
  return path.join(folder, first);
}

/** Where a question points to, as address and position; a sentence where that cannot be told. */
export async function positionOf(
  { server, document, isFile }: Aim,
  { line, column, symbol }: Question,
  signal: AbortSignal,
): Promise<{ readonly uri: string; readonly position: Position } | string> {
  const { uri, text } = document;
  if (isFile && line !== undefined && (column !== undefined || symbol === undefined)) {
    const words = linesOf(text)[line - 1];
    if (words === undefined) return `There is no line ${line}: the file has ${linesOf(text).length} lines.`;
    const character = column === undefined ? words.search(/[\p{L}_$]/u) : column - 1;
    if (character < 0 || character > words.length) return `Line ${line} has no column ${column ?? 'with a name'}.`;
    return { uri, position: { line: line - 1, character } };
  }
  if (symbol === undefined) return 'Give a line and a column, or a symbol.';
  const name = symbol.split('.').at(-1) ?? symbol;
  const mention = isFile && line !== undefined ? mentionOf(text, name, line) : undefined;
  if (mention) return { uri, position: mention };
  if (isFile && line !== undefined) return `${escapeInvisibleLine(symbol)} is not in line ${line}.`;
  return (
    (await byName(server, document, isFile, symbol, signal)) ??
    `There is nothing called ${escapeInvisibleLine(symbol)}.`
  );
}

/** A name declared in the document, or mentioned there, or declared anywhere in the project. */
async function byName(
  server: LanguageServer,
  document: Document,
  isFile: boolean,
  symbol: string,
  signal: AbortSignal,
): Promise<{ readonly uri: string; readonly position: Position } | undefined> {
  const name = symbol.split('.').at(-1) ?? symbol;
  if (isFile) {
    const own = await declaredIn(server, document, signal);
    const declared = own.find((each) => isCalled(each, symbol));
    const position = declared?.spot.start ?? mentionOf(document.text, name);
    if (position) return { uri: document.uri, position };
  }
  const all = await declaredLike(server, name, signal);
  const found = all.find((each) => isCalled(each, symbol)) ?? all.find((each) => each.name === name);
  const file = found && fileOf(found.spot.uri);
  if (!found || file === undefined) return undefined;
  const shown = await server.show(file, signal);
  return { uri: shown.uri, position: found.spot.start };
}
