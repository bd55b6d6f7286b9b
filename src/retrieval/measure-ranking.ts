// Measures rankings against judgements: nDCG@10 and recall@100 of each list, and a paired comparison of two lists over the same queries.
import { FairleadError } from '../core/index.ts';

/** The judgements of queries: the relevance of documents by their ids; 0 or absent: not relevant. */
export type Judgements = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The measures of one list, as means over queries. */
export type RankingMeasures = {
  readonly ndcg10: number;
  readonly recall100: number;
  /** The nDCG@10 of each query, in the order of the queries. */
  readonly perQuery: readonly number[];
};

/** The difference of two lists over the same queries. */
export type PairedComparison = {
  readonly n: number;
  readonly difference: number;
  /** The 95 % interval of the difference, by bootstrap over the queries. */
  readonly interval: readonly [number, number];
  /** The two-sided p-value of a randomisation test: how often a difference as large comes from exchanging the lists of each query at random. */
  readonly p: number;
};

/** Reads judgements in the format of BEIR (`query-id`, `corpus-id`, `score`) or TREC (`query 0 document score`): columns separated by white space. */
export function parseJudgements(text: string): Judgements {
  const judgements = new Map<string, Map<string, number>>();
  for (const [i, line] of text.split('\n').entries()) {
    const columns = line.trim().split(/\s+/);
    if (line.trim() === '' || (i === 0 && !/^-?\d+$/.test(columns.at(-1) ?? ''))) continue;
    const [query, document] = columns.length === 4 ? [columns[0], columns[2]] : columns;
    const score = Number(columns.at(-1));
    if (
      query === undefined ||
      document === undefined ||
      columns.length < 3 ||
      columns.length > 4 ||
      !Number.isInteger(score)
    )
      throw new FairleadError('retrieval/bad-judgements', `Line ${i + 1} of the judgements is none.`, {
        blame: 'user',
        hint: 'A line has three columns: the id of the query, the id of the document, and the score.',
      });
    let known = judgements.get(query);
    if (!known) judgements.set(query, (known = new Map()));
    known.set(document, score);
  }
  return judgements;
}

const ndcgDepth = 10;
const recallDepth = 100;

const sumGains = (scores: readonly number[]): number =>
  scores.slice(0, ndcgDepth).reduce((sum, score, i) => sum + Math.max(0, score) / Math.log2(i + 2), 0);

/** The nDCG@10 of ranked ids, as trec_eval computes it: the gain is the score, the ideal order is that of all judgements. */
export function computeNdcg(ids: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const ideal = sumGains([...relevant.values()].toSorted((a, b) => b - a));
  return ideal === 0 ? 0 : sumGains(ids.map((id) => relevant.get(id) ?? 0)) / ideal;
}

function computeRecall(ids: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const wanted = [...relevant].filter(([, score]) => score > 0).map(([id]) => id);
  const found = new Set(ids.slice(0, recallDepth));
  return wanted.length === 0 ? 0 : wanted.filter((id) => found.has(id)).length / wanted.length;
}

/** Measures the ranked ids of queries. A query without a relevant document is left out; one that is not ranked counts as 0. */
export function measureRanking(
  rankings: ReadonlyMap<string, readonly string[]>,
  judgements: Judgements,
): RankingMeasures {
  const perQuery: number[] = [];
  let recall = 0;
  for (const [query, relevant] of judgements) {
    if (![...relevant.values()].some((score) => score > 0)) continue;
    // In sets whose queries are documents, a document with the id of the query is the query itself, unless it is judged.
    const ids = [...new Set(rankings.get(query))].filter((id) => id !== query || relevant.has(id));
    perQuery.push(computeNdcg(ids, relevant));
    recall += computeRecall(ids, relevant);
  }
  return { ndcg10: mean(perQuery), recall100: perQuery.length === 0 ? 0 : recall / perQuery.length, perQuery };
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

const rounds = 10_000;

/** Compares the measures of two lists query by query: the second minus the first. The same input gives the same result. */
export function comparePaired(first: readonly number[], second: readonly number[]): PairedComparison {
  const differences = first.map((value, i) => (second[i] ?? 0) - value);
  const n = differences.length;
  const difference = mean(differences);
  const random = createRandom();
  let asLarge = 0;
  const means: number[] = [];
  for (let round = 0; round < rounds; round++) {
    let [exchanged, resampled] = [0, 0];
    for (const value of differences) {
      exchanged += random() < 0.5 ? value : -value;
      resampled += differences[Math.floor(random() * n)] ?? 0;
    }
    // A rounding error must not make an equal difference smaller.
    if (Math.abs(exchanged / n) >= Math.abs(difference) - 1e-12) asLarge += 1;
    means.push(resampled / n);
  }
  means.sort((a, b) => a - b);
  const at = (share: number): number => means[Math.floor(share * (rounds - 1))] ?? 0;
  return { n, difference, interval: [at(0.025), at(0.975)], p: (asLarge + 1) / (rounds + 1) };
}

/** Numbers from 0 to 1 that are the same in each run. */
function createRandom(): () => number {
  let state = 7;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
