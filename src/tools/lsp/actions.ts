// The requests to language servers (definition, references, hover and others), each with text for the model and data for programs, within limits.
import { isObject, escapeInvisible, escapeInvisibleLine, type Json, type Workspace } from '../../core/index.ts';
import { resolvePosition, type RequestTarget, type CodeQuery } from './request-target.ts';
import {
  splitLines,
  locationData,
  formatLocation,
  displayPath,
  parseLocations,
  parseRangeStart,
  createLocationResolver,
  type LspLocation,
} from './locations.ts';
import { diagnosticData, formatDiagnostic, getDiagnostics } from './diagnostics.ts';
import { symbolData, documentSymbols, workspaceSymbols, matchesSymbolName, type DeclaredSymbol } from './symbols.ts';

const maxLocations = 100;
const maxSymbols = 100;
const maxDiagnostics = 50;
const maxHoverChars = 4000;

type ActionContext = RequestTarget & {
  readonly workspace: Workspace;
  readonly query: CodeQuery;
  readonly signal: AbortSignal;
};

/** The result as text and data, or a sentence that says why there is none. */
export type ActionResult = { readonly text: string; readonly data: Json } | string;

/** A request, and the server capability it needs. */
type ActionDefinition = {
  readonly requiredProvider: string;
  readonly run: (asked: ActionContext) => Promise<ActionResult>;
};

/** The name of a request. */
export type LspAction = 'definition' | 'references' | 'hover' | 'symbols' | 'diagnostics' | 'rename_preview';

/** The requests by name. */
export const lspActions: Readonly<Record<LspAction, ActionDefinition>> = {
  definition: {
    requiredProvider: 'definitionProvider',
    run: (asked) => locationsAction(asked, 'textDocument/definition', {}),
  },
  references: {
    requiredProvider: 'referencesProvider',
    run: (asked) => locationsAction(asked, 'textDocument/references', { context: { includeDeclaration: true } }),
  },
  hover: { requiredProvider: 'hoverProvider', run: hoverAction },
  symbols: { requiredProvider: 'documentSymbolProvider', run: symbolsAction },
  diagnostics: { requiredProvider: 'diagnosticProvider', run: diagnosticsAction },
  rename_preview: { requiredProvider: 'renameProvider', run: renamePreviewAction },
};

type PositionedResponse = { readonly uri: string; readonly response: unknown };

/** Sends a request for the position of the query. */
async function requestAtPosition(
  asked: ActionContext,
  method: string,
  more: { readonly [key: string]: Json },
): Promise<PositionedResponse | string> {
  const resolved = await resolvePosition(asked, asked.query, asked.signal);
  if (typeof resolved === 'string') return resolved;
  const { uri, position } = resolved;
  return {
    uri,
    response: await asked.server.request(method, { textDocument: { uri }, position, ...more }, asked.signal),
  };
}

async function locationsAction(
  asked: ActionContext,
  method: string,
  more: { readonly [key: string]: Json },
): Promise<ActionResult> {
  const found = await requestAtPosition(asked, method, more);
  if (typeof found === 'string') return found;
  const spots = sortLocations(parseLocations(found.response));
  const places = await Promise.all(spots.slice(0, maxLocations).map(createLocationResolver(asked.workspace)));
  const text = places.length ? places.map(formatLocation).join('\n') : 'Nothing was found there.';
  return {
    text: withOmittedCount(text, spots.length - places.length),
    data: { places: places.map(locationData), total: spots.length },
  };
}

/** Returns locations sorted by file, without duplicates. */
function sortLocations(spots: readonly LspLocation[]): readonly LspLocation[] {
  const byKey = new Map(spots.map((spot) => [JSON.stringify(spot), spot]));
  return [...byKey.values()].toSorted(
    (a, b) =>
      (a.uri < b.uri ? -1 : Number(a.uri > b.uri)) ||
      a.start.line - b.start.line ||
      a.start.character - b.start.character,
  );
}

const withOmittedCount = (text: string, rest: number): string =>
  rest > 0 ? `${text}\n[${rest} more are not shown.]` : text;

async function hoverAction(asked: ActionContext): Promise<ActionResult> {
  const found = await requestAtPosition(asked, 'textDocument/hover', {});
  if (typeof found === 'string') return found;
  const documentation = escapeInvisible(
    parseHoverText(isObject(found.response) ? found.response['contents'] : undefined),
  ).trim();
  if (documentation === '') return { text: 'Nothing is known about this position.', data: { text: '' } };
  const text = documentation.length > maxHoverChars ? `${documentation.slice(0, maxHoverChars)}…` : documentation;
  return { text, data: { text } };
}

/** Returns the text of a hover, in any of the forms that the protocol has had. */
function parseHoverText(contents: unknown): string {
  if (typeof contents === 'string') return contents;
  if (Array.isArray(contents)) return contents.slice(0, 20).map(parseHoverText).join('\n\n');
  const value = isObject(contents) ? contents['value'] : undefined;
  return typeof value === 'string' ? value : '';
}

async function symbolsAction(asked: ActionContext): Promise<ActionResult> {
  const { server, document, isFile, signal, workspace } = asked;
  const { symbol } = asked.query;
  if (!isFile && symbol === undefined) return 'Give a file, or a symbol to search for.';
  const all =
    symbol === undefined
      ? await documentSymbols(server, document, signal)
      : exactMatchesFirst(await workspaceSymbols(server, symbol, signal), symbol);
  const shown = all.slice(0, maxSymbols);
  const tell = createLocationResolver(workspace);
  const places = await Promise.all(shown.map((each) => tell(each.location)));
  const lines = shown.map((each, i) => {
    const { path, line, column } = places[i] ?? { path: '', line: 0, column: 0 };
    return symbol === undefined
      ? `${line}:${column}: ${'  '.repeat(each.containers.length)}${each.kind} ${each.name}`
      : `${path}:${line}:${column}: ${each.kind} ${fullName(each)}`;
  });
  const data = shown.map((each, i) => ({ ...(symbolData(each) as object), ...places[i] }));
  return {
    text: withOmittedCount(lines.join('\n') || 'No symbols were found.', all.length - shown.length),
    data: { symbols: data as Json, total: all.length },
  };
}

/** Sorts exact matches before similar names. */
const exactMatchesFirst = (all: readonly DeclaredSymbol[], symbol: string): readonly DeclaredSymbol[] =>
  all.toSorted((a, b) => Number(matchesSymbolName(b, symbol)) - Number(matchesSymbolName(a, symbol)));

const fullName = ({ name, containers }: DeclaredSymbol): string => [...containers, name].join('.');

async function diagnosticsAction({
  server,
  document,
  isFile,
  signal,
  workspace,
}: ActionContext): Promise<ActionResult> {
  if (!isFile) return 'Give a file: problems are reported for one file at a time.';
  const problems = await getDiagnostics(server, document, signal);
  if (problems === undefined)
    return `The language server ${server.connection.name} reported nothing about this file in time.`;
  const path = displayPath(workspace.cwd, document.path);
  const lines = problems.slice(0, maxDiagnostics).map((each) => `${path}:${formatDiagnostic(each)}`);
  return {
    text: withOmittedCount(lines.join('\n') || `No problems in ${path}.`, problems.length - lines.length),
    data: {
      problems: problems.slice(0, maxDiagnostics).map((each) => diagnosticData(path, each)),
      total: problems.length,
    },
  };
}

async function renamePreviewAction(asked: ActionContext): Promise<ActionResult> {
  const { new_name: newName } = asked.query;
  if (newName === undefined) return 'Give the new_name.';
  const found = await requestAtPosition(asked, 'textDocument/rename', { newName });
  if (typeof found === 'string') return found;
  const edits = parseRenameEdits(found.response);
  const tell = createLocationResolver(asked.workspace);
  const places = await Promise.all(edits.slice(0, maxLocations).map((edit) => tell(edit.location)));
  const lines = places.map((place, i) => `${formatLocation(place)}  →  ${edits[i]?.newText ?? ''}`);
  const files = new Set(edits.map(({ location }) => location.uri)).size;
  const head = edits.length ? `${edits.length} edits in ${files} files; nothing was changed.\n` : '';
  return {
    text: withOmittedCount(`${head}${lines.join('\n') || 'It cannot be renamed.'}`, edits.length - places.length),
    data: { edits: places.map((place, i) => ({ ...place, words: edits[i]?.newText ?? '' })), total: edits.length },
  };
}

type RenameEdit = { readonly location: LspLocation; readonly newText: string };

/** Returns the edits of a rename, in either form of the protocol. */
function parseRenameEdits(answer: unknown): readonly RenameEdit[] {
  if (!isObject(answer)) return [];
  const { changes, documentChanges } = answer;
  const byFile: readonly (readonly [unknown, unknown])[] = Array.isArray(documentChanges)
    ? documentChanges.flatMap((each: unknown) =>
        isObject(each) && isObject(each['textDocument']) ? [[each['textDocument']['uri'], each['edits']] as const] : [],
      )
    : Object.entries(isObject(changes) ? changes : {});
  return byFile.flatMap(([uri, edits]) => {
    if (typeof uri !== 'string' || !Array.isArray(edits)) return [];
    return edits.flatMap((edit: unknown) => {
      const start = isObject(edit) ? parseRangeStart(edit['range']) : undefined;
      const words = isObject(edit) ? edit['newText'] : undefined;
      if (!start || typeof words !== 'string') return [];
      return [{ location: { uri, start }, newText: escapeInvisibleLine(splitLines(words)[0]?.slice(0, 100) ?? '') }];
    });
  });
}
