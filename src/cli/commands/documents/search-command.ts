// The `search` command: searches an index by words and by meaning, and answers a question from the passages with citations.
import { escapeInvisible, escapeInvisibleLine, FairleadError } from '../../../core/index.ts';
import {
  answerFromDocuments,
  formatSource,
  type DocumentAnswer,
  type DocumentIndex,
  type FusedHit,
  type SearchHit,
  type SearchResult,
} from '../../../retrieval/index.ts';
import {
  assertMayLeave,
  findSearchRoots,
  listIndexes,
  openFolderIndex,
  resolveDocumentRoot,
  updateBeforeSearch,
} from '../../../coding-agent/documents/index.ts';
import { resolveModelUnattended } from '../../../coding-agent/models/index.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';
import { openVerifyModel } from '../../../coding-agent/verification/index.ts';
import type { Command } from '../../args/command.ts';
import { onShutdown } from '../../args/shutdown-signals.ts';
import { print, printErr } from '../../args/stdio.ts';
import { stringOption, withOptions, type ParsedOptions } from '../../args/with-usage.ts';
import { createTtyHost } from '../../print-mode/tty-prompter.ts';

const usage = `Usage: fairlead search "<words or question>" [--folder <folder or file>] [--limit <n>] [--answer [--model <name>]] [--no-update]
                       [--embedding <model>] [--fusion rank|score] [--store <postgres://...>] [--json]
       fairlead search --queries <queries.jsonl> --folder <folder or file> [--limit <n>]     many queries, one JSON line each
       fairlead search --queries <queries.jsonl> --qrels <qrels.tsv> --folder <corpus.jsonl>  nDCG@10 of words, meaning and both

Searches the index of the folder (by default the working directory), else of the nearest folder above it that has one,
else of the folders below it; see fairlead index. Prints the hits by words (BM25) and by meaning (vectors) separately, then both fused by weighted scores (or
by reciprocal rank: --fusion rank), each with file:lines and hash. In an index of up to 5,000 files, changed and new files
are indexed first; with --no-update, or more files, only the files of the hits are compared. --answer lets a model answer
from the hits, with citations that are checked.`;

const options = {
  folder: stringOption,
  limit: stringOption,
  answer: { type: 'boolean' },
  model: { type: 'string', short: 'm' },
  'no-update': { type: 'boolean' },
  embedding: stringOption,
  store: stringOption,
  fusion: stringOption,
  queries: stringOption,
  qrels: stringOption,
  json: { type: 'boolean' },
} as const;

/** Searches; exit code 0 something was found or answered, 1 nothing or failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const query = positionals.join(' ').trim();
    const limit = parseLimit(values.limit);
    if ((query === '') === (values.queries === undefined)) throw new TypeError('Give either a query or --queries.');
    if (values.qrels !== undefined && values.queries === undefined) throw new TypeError('--qrels needs --queries.');
    const settings = readSettings();
    const given = values.folder ?? process.cwd();
    const roots = values.store === undefined ? findRoots(settings, values.folder) : [given];
    if (roots.length > 1 && (values.answer || values.queries !== undefined))
      throw new FairleadError('retrieval/many-indexes', 'There are several indexes below this folder.', {
        blame: 'user',
        hint: `Name one: ${roots.map((root) => `--folder ${formatFolder(root)}`).join(', ')}`,
      });
    const real = resolveDocumentRoot(given);
    let code = 1;
    for (const root of roots) {
      // With several indexes, the name of each is a part of the output.
      if (roots.length > 1 && !values.json) print(`Index of ${escapeInvisibleLine(root)}\n`);
      else if (values.store === undefined && root !== real)
        printErr(`Searching the index of ${escapeInvisibleLine(root)}\n`);
      const found = await searchRoot(root, query, { values, limit, settings, isOneOfMany: roots.length > 1 });
      if (found === 0) code = 0;
    }
    return code;
  },
);

/** The folders whose index is searched; throws if there is none. */
function findRoots(settings: Settings, folder: string | undefined): readonly string[] {
  const given = folder ?? process.cwd();
  const roots = findSearchRoots(settings.dirs, given);
  if (roots.length > 0) return roots;
  const others = listIndexes(settings.dirs).slice(0, maxNamedIndexes);
  const hints = [
    `Index it first: fairlead index ${folder === undefined ? '.' : formatFolder(folder)}`,
    ...(others.length > 0
      ? [`Or search another folder: ${others.map(({ root }) => `--folder ${formatFolder(root)}`).join(', ')}`]
      : []),
  ];
  throw new FairleadError(
    'retrieval/no-index',
    `${escapeInvisibleLine(given)} is not indexed, and no folder above or below it is.`,
    { blame: 'user', hint: hints.join('\n') },
  );
}

const maxNamedIndexes = 5;

/** A folder as it is typed at a shell. */
const formatFolder = (folder: string): string =>
  /^[\w./~@:+-]+$/.test(folder) ? folder : `'${escapeInvisibleLine(folder).replaceAll("'", `'\\''`)}'`;

type RootSearch = {
  readonly values: ParsedOptions<typeof options>;
  readonly limit: number | undefined;
  readonly settings: Settings;
  /** Whether the result names its index. */
  readonly isOneOfMany: boolean;
};

async function searchRoot(
  root: string,
  query: string,
  { values, limit, settings, isOneOfMany }: RootSearch,
): Promise<number> {
  const { embedding, store } = values;
  const index = await openFolderIndex({
    settings,
    root,
    fusion: parseFusion(values.fusion),
    ...(embedding === undefined ? {} : { embedding }),
    ...(store === undefined ? {} : { store }),
  });
  const signals = onShutdown(['SIGINT', 'SIGTERM'], () => {});
  const { signal } = signals;
  try {
    if (!values['no-update']) for (const notice of await updateBeforeSearch(index, signal)) printErr(`${notice}\n`);
    if (values.queries !== undefined) {
      const { searchQueries } = await import('./search-queries.ts');
      const { queries, qrels: judgements } = values;
      return await searchQueries(index, { queries, judgements, limit, asJson: values.json === true, signal });
    }
    if (values.answer)
      return await answer(index, query, { limit, model: values.model, settings, asJson: values.json === true, signal });
    const result = await index.search(query, { limit: limit ?? 5, signal });
    for (const notice of result.notices) printErr(`${notice}\n`);
    print(
      values.json
        ? `${JSON.stringify(isOneOfMany ? { root, ...result } : result)}\n`
        : formatResult(result, parseFusion(values.fusion)),
    );
    return result.hits.length > 0 ? 0 : 1;
  } finally {
    signals.release();
    await index.close();
  }
}

function parseLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new TypeError(`--limit is a number from 1 to 1000, not "${text}".`);
}

function parseFusion(text: string = 'score'): 'rank' | 'score' {
  if (text === 'rank' || text === 'score') return text;
  throw new TypeError(`--fusion is rank or score, not "${text}".`);
}

const maxExcerptChars = 160;

function formatResult({ query, lexical, semantic, hits }: SearchResult, fusion: 'rank' | 'score'): string {
  if (hits.length === 0) return `Nothing matches ${JSON.stringify(query)}.\n`;
  const list = (title: string, all: readonly (SearchHit | FusedHit)[]): string =>
    `${title}\n${all.map(formatHit).join('\n')}\n`;
  if (semantic.length === 0)
    return `${list('By words (BM25):', lexical)}\nBy meaning: the index has no vectors. Add them with: fairlead index <folder> --embedding <model>\n`;
  return [
    list('By words (BM25):', lexical),
    list('By meaning (vectors):', semantic),
    list(`Both, fused by ${fusion === 'rank' ? 'reciprocal rank' : 'weighted scores'}:`, hits),
  ].join('\n');
}

function formatHit(hit: SearchHit | FusedHit): string {
  const ranks =
    'lexicalRank' in hit || 'semanticRank' in hit
      ? ` (words ${hit.lexicalRank ?? '-'}, meaning ${hit.semanticRank ?? '-'})`
      : '';
  const excerpt = hit.text
    .slice(0, maxExcerptChars * 2)
    .replaceAll(/\s+/g, ' ')
    .slice(0, maxExcerptChars)
    .toWellFormed();
  const title = hit.title === '' ? '' : `  ${hit.title}`;
  return `${String(hit.rank).padStart(3)}. ${escapeInvisibleLine(`${formatSource(hit.source)}${title}`)}  ${hit.score.toFixed(3)}${ranks}\n     ${escapeInvisible(excerpt)}`;
}

type AnswerContext = {
  readonly limit: number | undefined;
  readonly model: string | undefined;
  readonly settings: Settings;
  readonly asJson: boolean;
  readonly signal: AbortSignal;
};

async function answer(
  index: DocumentIndex,
  question: string,
  { limit, model, settings, asJson, signal }: AnswerContext,
): Promise<number> {
  const resolved = await resolveModelUnattended({ model }, settings);
  await assertMayLeave(index.root, resolved, settings);
  const { ask } = await openVerifyModel(resolved, settings, createTtyHost(printErr));
  const result = await answerFromDocuments({
    question,
    search: async (text, searchOptions) => (await index.search(text, searchOptions)).hits,
    model: ask,
    isCurrent: (source) => index.isCurrent(source),
    ...(limit === undefined ? {} : { passages: limit }),
    signal,
  });
  print(asJson ? `${JSON.stringify({ question, model: resolved.name, ...result })}\n` : formatAnswer(result));
  return result.type === 'answered' ? 0 : 1;
}

function formatAnswer({ type, text, citations, uncited, removed }: DocumentAnswer): string {
  const lines = [
    type === 'answered' ? escapeInvisible(text) : `No answer: ${text}`,
    ...(citations.length > 0
      ? ['', ...citations.map(({ number, source }) => `[${number}] ${escapeInvisibleLine(formatSource(source))}`)]
      : []),
    ...(uncited.length > 0
      ? ['', 'Without a citation, so not from a document:', ...uncited.map((each) => `- ${escapeInvisibleLine(each)}`)]
      : []),
    ...(removed.length > 0 ? ['', ...removed] : []),
  ];
  return `${lines.join('\n')}\n`;
}
