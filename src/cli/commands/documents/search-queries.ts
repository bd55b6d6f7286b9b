// Many queries of `fairlead search`: prints the hits of each as a JSON line, or measures them against judgements.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, FairleadError } from '../../../core/index.ts';
import {
  comparePaired,
  measureRanking,
  parseJudgements,
  parseRecord,
  type DocumentIndex,
  type FusedHit,
  type Judgements,
  type PairedComparison,
  type SearchHit,
} from '../../../retrieval/index.ts';
import { print, printErr } from '../../args/stdio.ts';

type Query = { readonly id: string; readonly text: string };

function readFile(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new FairleadError('retrieval/no-queries', `The ${what} cannot be read: ${errorMessage(error)}`, {
      blame: 'user',
    });
  }
}

/** The queries of a JSONL file: `{"id", "text"}` per line, or `_id`. */
function readQueries(file: string): readonly Query[] {
  return readFile(file, 'queries')
    .split('\n')
    .flatMap((line, i) => {
      if (line.trim() === '') return [];
      const record = parseRecord(line);
      if (record && record.text !== '') return [record];
      throw new FairleadError('retrieval/bad-query', `Line ${i + 1} of ${file} is no query.`, {
        blame: 'user',
        hint: 'A query is a line such as {"id": "1", "text": "words"}.',
      });
    });
}

/** What is done with many queries. */
export type ManyQueries = {
  readonly queries: string;
  /** A file of judgements. */
  readonly judgements?: string | undefined;
  readonly limit?: number | undefined;
  readonly asJson: boolean;
  readonly signal: AbortSignal;
};

const defaultLimit = 100;

/** Prints one JSON line per query: ids or paths with ranks and scores, without texts; with judgements, the measures of the lists. */
export async function searchQueries(index: DocumentIndex, options: ManyQueries): Promise<number> {
  const queries = readQueries(options.queries);
  if (options.judgements !== undefined) {
    const judgements = parseJudgements(readFile(options.judgements, 'judgements'));
    return measureQueries(index, queries, judgements, options);
  }
  const brief = (hit: SearchHit | FusedHit): object => {
    const { title: _title, text: _text, source, ...rest } = hit;
    return { ...(source.id === undefined ? { path: source.path, lines: source.lines } : { id: source.id }), ...rest };
  };
  const notices = createNotices();
  for (const { id, text } of queries) {
    const found = await index.search(text, { limit: options.limit ?? defaultLimit, signal: options.signal });
    notices(found.notices);
    const [lexical, semantic, hits] = [found.lexical.map(brief), found.semantic.map(brief), found.hits.map(brief)];
    print(`${JSON.stringify({ id, lexical, semantic, hits })}\n`);
  }
  return 0;
}

/** Prints each notice once. */
function createNotices(): (notices: readonly string[]) => void {
  const printed = new Set<string>();
  return (notices) => {
    for (const notice of notices.filter((each) => !printed.has(each))) {
      printed.add(notice);
      printErr(`${notice}\n`);
    }
  };
}

const lists = ['lexical', 'semantic', 'hits'] as const;
const names = { lexical: 'words', semantic: 'meaning', hits: 'both' } as const;

async function measureQueries(
  index: DocumentIndex,
  queries: readonly Query[],
  judgements: Judgements,
  { queries: queryFile, limit, asJson, signal }: ManyQueries,
): Promise<number> {
  const judged = queries.filter(({ id }) => judgements.has(id));
  if (judged.length === 0)
    throw new FairleadError('retrieval/bad-judgements', 'The judgements name none of the queries.', { blame: 'user' });
  const missing = new Set(judgements.keys()).difference(new Set(queries.map(({ id }) => id))).size;
  if (missing > 0)
    printErr(`${missing} judged queries are not in ${escapeInvisibleLine(queryFile)}; each counts as 0.\n`);
  const rankings = { lexical: new Map(), semantic: new Map(), hits: new Map() } as Readonly<
    Record<(typeof lists)[number], Map<string, readonly string[]>>
  >;
  const notices = createNotices();
  const took: number[] = [];
  for (const { id, text } of judged) {
    const start = performance.now();
    const found = await index.search(text, { limit: Math.max(limit ?? 0, defaultLimit), signal });
    took.push(performance.now() - start);
    notices(found.notices);
    for (const list of lists)
      rankings[list].set(
        id,
        // In the index of a whole folder the queries are records too.
        found[list].flatMap(({ source }) =>
          source.id === undefined || path.basename(source.path) === path.basename(queryFile) ? [] : [source.id],
        ),
      );
  }
  const hasVectors = [...rankings.semantic.values()].some((ids) => ids.length > 0);
  const shown = hasVectors ? lists : (['lexical'] as const);
  const measured = shown.map((list) => ({ name: names[list], ...measureRanking(rankings[list], judgements) }));
  const [words, , both] = measured;
  const comparison = words && both ? comparePaired(words.perQuery, both.perQuery) : undefined;
  const medianMs = took.toSorted((a, b) => a - b)[took.length >> 1] ?? 0;
  const n = words?.perQuery.length ?? 0;
  if (asJson)
    print(`${JSON.stringify({ queries: n, medianMs, lists: measured, ...(comparison ? { comparison } : {}) })}\n`);
  else print(formatMeasures(n, medianMs, measured, comparison));
  return 0;
}

function formatMeasures(
  n: number,
  medianMs: number,
  measured: readonly { readonly name: string; readonly ndcg10: number; readonly recall100: number }[],
  comparison: PairedComparison | undefined,
): string {
  const rows = measured.map(
    ({ name, ndcg10, recall100 }) =>
      `${name.padEnd(10)}${ndcg10.toFixed(4).padStart(8)}${recall100.toFixed(4).padStart(12)}`,
  );
  const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(4)}`;
  return [
    `${n} judged queries, median ${medianMs.toFixed(1)} ms`,
    `${''.padEnd(10)}${'nDCG@10'.padStart(8)}${'recall@100'.padStart(12)}`,
    ...rows,
    ...(comparison
      ? [
          `both - words: ${signed(comparison.difference)} nDCG@10, 95 % interval ${signed(comparison.interval[0])} to ${signed(comparison.interval[1])}, paired randomisation test p = ${comparison.p.toFixed(4)} (n = ${comparison.n})`,
        ]
      : [
          'The index has no vectors: only words were measured. Add them with: fairlead index <corpus.jsonl> --embedding <model>',
        ]),
    '',
  ].join('\n');
}
