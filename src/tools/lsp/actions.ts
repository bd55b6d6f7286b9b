// What can be asked of a language server, each answered in lines for a model and in data for programs, within bounds.
import { isObject, escapeInvisible, escapeInvisibleLine, type Json, type Workspace } from '../../core/index.ts';
import { positionOf, type Aim, type Question } from './aim.ts';
import { linesOf, placeData, placeLine, shownPath, spotsIn, startOf, teller, type Spot } from './places.ts';
import { problemData, problemLine, problemsOf } from './problems.ts';
import { declaredData, declaredIn, declaredLike, isCalled, type Declared } from './symbols.ts';

const mostPlaces = 100;
const mostSymbols = 100;
const mostProblems = 50;
const longestHover = 4000;

type Asked = Aim & { readonly workspace: Workspace; readonly asked: Question; readonly signal: AbortSignal };

/** An answer in lines and as data, or a sentence that says why there is none. */
export type Answer = { readonly text: string; readonly data: Json } | string;

/** A way to ask, and the provider that a server must have for it. */
type Way = { readonly needs: string; readonly run: (asked: Asked) => Promise<Answer> };

/** The name of what can be asked. */
export type Action = 'definition' | 'references' | 'hover' | 'symbols' | 'diagnostics' | 'rename_preview';

/** What can be asked, by name. */
export const actions: Readonly<Record<Action, Way>> = {
  definition: { needs: 'definitionProvider', run: (asked) => located(asked, 'textDocument/definition', {}) },
  references: {
    needs: 'referencesProvider',
    run: (asked) => located(asked, 'textDocument/references', { context: { includeDeclaration: true } }),
  },
  hover: { needs: 'hoverProvider', run: hover },
  symbols: { needs: 'documentSymbolProvider', run: symbols },
  diagnostics: { needs: 'diagnosticProvider', run: diagnostics },
  rename_preview: { needs: 'renameProvider', run: renamePreview },
};

type Found = { readonly uri: string; readonly answer: unknown };

/** Asks at the position that the question points to. */
async function askAt(asked: Asked, method: string, more: { readonly [key: string]: Json }): Promise<Found | string> {
  const aim = await positionOf(asked, asked.asked, asked.signal);
  if (typeof aim === 'string') return aim;
  const { uri, position } = aim;
  return {
    uri,
    answer: await asked.server.request(method, { textDocument: { uri }, position, ...more }, asked.signal),
  };
}

async function located(asked: Asked, method: string, more: { readonly [key: string]: Json }): Promise<Answer> {
  const found = await askAt(asked, method, more);
  if (typeof found === 'string') return found;
  const spots = inOrder(spotsIn(found.answer));
  const places = await Promise.all(spots.slice(0, mostPlaces).map(teller(asked.workspace)));
  const text = places.length ? places.map(placeLine).join('\n') : 'Nothing was found there.';
  return {
    text: withRest(text, spots.length - places.length),
    data: { places: places.map(placeData), total: spots.length },
  };
}

/** Each place once, file by file. */
function inOrder(spots: readonly Spot[]): readonly Spot[] {
  const byKey = new Map(spots.map((spot) => [JSON.stringify(spot), spot]));
  return [...byKey.values()].toSorted(
    (a, b) =>
      (a.uri < b.uri ? -1 : Number(a.uri > b.uri)) ||
      a.start.line - b.start.line ||
      a.start.character - b.start.character,
  );
}

const withRest = (text: string, rest: number): string => (rest > 0 ? `${text}\n[${rest} more are not shown.]` : text);

async function hover(asked: Asked): Promise<Answer> {
  const found = await askAt(asked, 'textDocument/hover', {});
  if (typeof found === 'string') return found;
  const said = escapeInvisible(wordsIn(isObject(found.answer) ? found.answer['contents'] : undefined)).trim();
  if (said === '') return { text: 'Nothing is known about what stands there.', data: { text: '' } };
  const text = said.length > longestHover ? `${said.slice(0, longestHover)}…` : said;
  return { text, data: { text } };
}

/** The words of a hover, in any of the shapes that the protocol has had for them. */
function wordsIn(contents: unknown): string {
  if (typeof contents === 'string') return contents;
  if (Array.isArray(contents)) return contents.slice(0, 20).map(wordsIn).join('\n\n');
  const value = isObject(contents) ? contents['value'] : undefined;
  return typeof value === 'string' ? value : '';
}

async function symbols(asked: Asked): Promise<Answer> {
  const { server, document, isFile, signal, workspace } = asked;
  const { symbol } = asked.asked;
  if (!isFile && symbol === undefined) return 'Give a file, or a symbol to look for.';
  const all =
    symbol === undefined
      ? await declaredIn(server, document, signal)
      : exactFirst(await declaredLike(server, symbol, signal), symbol);
  const shown = all.slice(0, mostSymbols);
  const tell = teller(workspace);
  const places = await Promise.all(shown.map((each) => tell(each.spot)));
  const lines = shown.map((each, i) => {
    const { path, line, column } = places[i] ?? { path: '', line: 0, column: 0 };
    return symbol === undefined
      ? `${line}:${column}: ${'  '.repeat(each.within.length)}${each.kind} ${each.name}`
      : `${path}:${line}:${column}: ${each.kind} ${fullName(each)}`;
  });
  const data = shown.map((each, i) => ({ ...(declaredData(each) as object), ...places[i] }));
  return {
    text: withRest(lines.join('\n') || 'No symbols were found.', all.length - shown.length),
    data: { symbols: data as Json, total: all.length },
  };
}

/** What is called just so stands before what is only like it. */
const exactFirst = (all: readonly Declared[], symbol: string): readonly Declared[] =>
  all.toSorted((a, b) => Number(isCalled(b, symbol)) - Number(isCalled(a, symbol)));

const fullName = ({ name, within }: Declared): string => [...within, name].join('.');

async function diagnostics({ server, document, isFile, signal, workspace }: Asked): Promise<Answer> {
  if (!isFile) return 'Give a file: problems are told for one file at a time.';
  const problems = await problemsOf(server, document, signal);
  if (problems === undefined) return `The language server ${server.live.name} said nothing about this file in time.`;
  const path = shownPath(workspace.cwd, document.path);
  const lines = problems.slice(0, mostProblems).map((each) => `${path}:${problemLine(each)}`);
  return {
    text: withRest(lines.join('\n') || `No problems in ${path}.`, problems.length - lines.length),
    data: { problems: problems.slice(0, mostProblems).map((each) => problemData(path, each)), total: problems.length },
  };
}

async function renamePreview(asked: Asked): Promise<Answer> {
  const { new_name: newName } = asked.asked;
  if (newName === undefined) return 'Give the new_name.';
  const found = await askAt(asked, 'textDocument/rename', { newName });
  if (typeof found === 'string') return found;
  const edits = editsIn(found.answer);
  const tell = teller(asked.workspace);
  const places = await Promise.all(edits.slice(0, mostPlaces).map((edit) => tell(edit.spot)));
  const lines = places.map((place, i) => `${placeLine(place)}  →  ${edits[i]?.words ?? ''}`);
  const files = new Set(edits.map(({ spot }) => spot.uri)).size;
  const head = edits.length ? `${edits.length} edits in ${files} files; nothing was changed.\n` : '';
  return {
    text: withRest(`${head}${lines.join('\n') || 'It cannot be renamed.'}`, edits.length - places.length),
    data: { edits: places.map((place, i) => ({ ...place, words: edits[i]?.words ?? '' })), total: edits.length },
  };
}

type Edit = { readonly spot: Spot; readonly words: string };

/** The edits of a renaming, in either shape that the protocol has for them. */
function editsIn(answer: unknown): readonly Edit[] {
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
      const start = isObject(edit) ? startOf(edit['range']) : undefined;
      const words = isObject(edit) ? edit['newText'] : undefined;
      if (!start || typeof words !== 'string') return [];
      return [{ spot: { uri, start }, words: escapeInvisibleLine(linesOf(words)[0]?.slice(0, 100) ?? '') }];
    });
  });
}
