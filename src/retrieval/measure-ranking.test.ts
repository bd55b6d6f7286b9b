// Tests of the measures of rankings: known values, and a paired test that finds what is there and nothing else.
import assert from 'node:assert/strict';
import test from 'node:test';
import { comparePaired, computeNdcg, measureRanking, parseJudgements } from './measure-ranking.ts';

test('nDCG@10 and recall@100 have the values of trec_eval, and judgements of BEIR and TREC are read', () => {
  const beir = parseJudgements('query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t1\nq2\tc\t1\nq3\td\t0\n');
  assert.deepEqual(
    [...(beir.get('q1') ?? [])],
    [
      ['a', 2],
      ['b', 1],
    ],
  );
  assert.deepEqual([...(parseJudgements('1 0 a 1\n').get('1') ?? [])], [['a', 1]]);
  const relevant = new Map([
    ['a', 2],
    ['b', 1],
  ]);
  assert.equal(computeNdcg(['a', 'b'], relevant), 1);
  const swapped = (1 + 2 / Math.log2(3)) / (2 + 1 / Math.log2(3));
  assert.ok(Math.abs(computeNdcg(['b', 'a'], relevant) - swapped) < 1e-12);
  assert.equal(computeNdcg([...'cdefghijkl'.split(''), 'a'], relevant), 0);
  // q2 is not ranked, q3 has nothing relevant, and the document q1 is the query itself.
  const measured = measureRanking(
    new Map([
      ['q1', ['q1', 'a', 'a', 'b']],
      ['q3', ['d']],
    ]),
    beir,
  );
  assert.deepEqual(measured, { ndcg10: 0.5, recall100: 0.5, perQuery: [1, 0] });
  const known = measureRanking(new Map([['a', ['a']]]), parseJudgements('query-id\tcorpus-id\tscore\na\ta\t1\n'));
  assert.deepEqual(known.perQuery, [1], 'a judged document counts, also with the id of the query');
});

test('a paired comparison finds a difference, does not find one in noise, and gives the same result again', () => {
  const noise = Array.from({ length: 200 }, (_, i) => Math.sin(i * 12.9898) / 2 + 0.5);
  const other = Array.from({ length: 200 }, (_, i) => Math.sin(i * 78.233 + 1) / 2 + 0.5);
  const none = comparePaired(noise, other);
  assert.ok(none.p > 0.05 && none.interval[0] < 0 && none.interval[1] > 0, JSON.stringify(none));
  const better = comparePaired(
    noise,
    noise.map((value, i) => value + (i % 3 === 0 ? 0.1 : 0)),
  );
  assert.ok(better.p < 0.001 && better.interval[0] > 0, JSON.stringify(better));
  assert.deepEqual(comparePaired(noise, other), none);
  assert.equal(comparePaired([0.5, 1], [0.5, 1]).p, 1);
});
