// Measures patterns against a single try, best of N and a vote, with equal budgets in model calls and a scripted noisy model, and the deduplication of findings on a planted set. node bench/patterns.ts [tasks of each family]
import { comparePairs } from '../src/fleet/health/index.ts';
import { createRandom } from '../src/checks/index.ts';
import {
  createValueWorkspace,
  dedupeFindings,
  mapReduce,
  refineAnswer,
  searchTree,
  type FunctionParticipant,
  type ValueWorkspace,
} from '../src/agent/patterns/index.ts';
import { createTask, criticRates, families, type Answer, type Critique, type Task } from './pattern-tasks.ts';
import { plantFindings, scorePairs, type PlantedFinding } from './planted-findings.ts';

/** What decides between answers: the noisy critic, one call each, or a test that costs no call. */
type Verifier = 'critic' | 'test';
type Method = (task: Task, verifier: Verifier, calls: number) => Promise<Answer>;

const { signal } = new AbortController();
/** No setting of the library was chosen on the tasks of these seeds. */
const firstSeed = 7_000_003;
const share = (critique: Critique): number => critique.filter(Boolean).length / critique.length;
const judge = (task: Task, verifier: Verifier, answer: Answer): Critique =>
  verifier === 'test' ? task.test(answer) : task.criticise(answer);
const parse = (text: string): Answer => JSON.parse(text) as Answer;
const named = <In, Out>(name: string, family: string, run: FunctionParticipant<In, Out>['run'], asksModel = true) => ({
  name,
  family,
  run,
  asksModel,
});

/** The answer with the best score of N attempts; a critic takes half of the calls. */
const bestOf: Method = async (task, verifier, calls) => {
  let best: Answer | undefined;
  let highest = -1;
  for (let used = 0; used + (verifier === 'test' ? 1 : 2) <= calls; used += verifier === 'test' ? 1 : 2) {
    const answer = task.attempt();
    const score = share(judge(task, verifier, answer));
    if (score > highest) [best, highest] = [answer, score];
    if (verifier === 'test' && score === 1) break;
  }
  return best ?? task.attempt();
};

/** The most frequent answer of N attempts, the first of several. */
const vote: Method = async (task, _verifier, calls) => {
  const counts = new Map<string, number>();
  for (let i = 0; i < calls; i++) {
    const answer = JSON.stringify(task.attempt());
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  let [best, highest] = ['[]', 0];
  for (const [answer, count] of counts) if (count > highest) [best, highest] = [answer, count];
  return parse(best);
};

/** The evaluator and the optimizer of the library. */
const refine: Method = async (task, verifier, calls) => {
  const critiques = new Map<string, Critique>();
  const result = await refineAnswer({
    task: 'x',
    signal,
    budget: { calls },
    maxRounds: calls,
    patience: calls,
    author: named('author', 'a', ({ best }) => {
      const critique = best && critiques.get(best.text);
      return JSON.stringify(best && critique ? task.revise(parse(best.text), critique) : task.attempt());
    }),
    evaluator: named(
      'evaluator',
      'b',
      ({ text }) => {
        const critique = judge(task, verifier, parse(text));
        critiques.set(text, critique);
        return {
          score: share(critique),
          feedback: '',
        };
      },
      verifier === 'critic',
    ),
  });
  return parse(result.text ?? '[]');
};

/** The tree search of the library: a state is an answer, an action is a new attempt or a revision. */
const search: Method = async (task, verifier, calls) => {
  const critiques = new Map<string, Critique>();
  type State = ValueWorkspace<Answer, Answer>;
  const result = await searchTree<Answer, State>({
    task: 'x',
    signal,
    budget: { calls },
    width: 2,
    maxDepth: calls,
    retries: 4,
    exploration: 0.3,
    workspace: createValueWorkspace<Answer, Answer>({
      value: [],
      parse: (proposed) => ({ action: proposed as Answer }),
      apply: (_, action) => action,
    }),
    proposer: named('proposer', 'a', ({ actions }) => {
      const answer = actions.at(-1);
      const critique = answer && critiques.get(JSON.stringify(answer));
      return [answer && critique ? task.revise(answer, critique) : task.attempt()];
    }),
    check: named(
      'check',
      'b',
      ({ actions }) => {
        const answer = actions.at(-1);
        if (!answer) return { value: 0 };
        const critique = judge(task, verifier, answer);
        critiques.set(JSON.stringify(answer), critique);
        return {
          value: share(critique),
          solved: verifier === 'test' && critique.every(Boolean),
        };
      },
      verifier === 'critic',
    ),
  });
  return result.actions.at(-1) ?? [];
};

const methods: Readonly<Record<string, Method>> = {
  'single try': async (task) => task.attempt(),
  'best of N': bestOf,
  vote,
  refineAnswer: refine,
  searchTree: search,
};

const percent = (value: number): string => (value * 100).toFixed(1);
const points = (value: number): string => `${value >= 0 ? '+' : ''}${percent(value)}`;

/** Which tasks each method solves, in the order of the tasks. Each method starts with the same random numbers. */
async function measure(
  verifier: Verifier,
  calls: number,
  tasks: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const results = new Map<string, number[]>();
  for (const [name, method] of Object.entries(methods)) {
    const solved: number[] = [];
    for (const [f, family] of families.entries())
      for (let i = 0; i < tasks; i++) {
        const task = createTask(family, i, tasks, firstSeed + f * 100_003 + i);
        solved.push(task.isRight(await method(task, verifier, calls)) ? 1 : 0);
      }
    results.set(name, solved);
  }
  return results;
}

function printComparison(results: ReadonlyMap<string, readonly number[]>, tasks: number): void {
  const rate = (values: readonly number[]): string =>
    percent(values.reduce((sum, each) => sum + each, 0) / values.length).padStart(5);
  console.log(
    `  ${'solved, %'.padEnd(14)}${['all', ...families.map(({ name }) => name)].map((name) => name.padStart(12)).join('')}`,
  );
  for (const [name, solved] of results) {
    const parts = families.map((_, f) => solved.slice(f * tasks, (f + 1) * tasks));
    console.log(`  ${name.padEnd(14)}${[solved, ...parts].map((each) => rate(each).padStart(12)).join('')}`);
  }
  for (const pattern of ['refineAnswer', 'searchTree'])
    for (const baseline of ['single try', 'best of N', 'vote']) {
      const [before, after] = [results.get(baseline) ?? [], results.get(pattern) ?? []];
      const compare = (from: number, to: number): string => {
        const { value, interval } = comparePairs(before.slice(from, to).map((each, i) => [each, after[from + i] ?? 0]));
        return `${points(value)} [${interval.map(percent).join(', ')}]`;
      };
      const byFamily = families.map(({ name }, f) => `${name} ${compare(f * tasks, (f + 1) * tasks)}`).join('; ');
      console.log(`  ${pattern} against ${baseline}: ${compare(0, before.length)} points (${byFamily})`);
    }
}

/** Deduplicates the half of the planted set that no threshold was chosen on, by words alone and with a noisy judge. */
async function measureDuplicates(seeds: readonly number[]): Promise<void> {
  const totals = new Map<
    string,
    { right: number; merged: number; planted: number; findings: number; defects: number; kept: number; calls: number }
  >();
  for (const seed of seeds) {
    const planted = plantFindings({ kinds: 'measurement', seed, defects: 150 });
    const words = dedupeFindings(planted).kept.map(({ sources }) => sources.map(({ index }) => index));
    const judged = await dedupeWithJudge(planted, seed);
    for (const [name, clusters, calls] of [
      ['words alone', words, 0],
      ['with a judge', judged.clusters, judged.calls],
    ] as const) {
      const { pairs, findings, defects, kept } = scorePairs(planted, clusters);
      const total = totals.get(name) ?? { right: 0, merged: 0, planted: 0, findings: 0, defects: 0, kept: 0, calls: 0 };
      for (const [key, value] of Object.entries({ ...pairs, findings, defects, kept, calls }))
        total[key as keyof typeof total] += value;
      totals.set(name, total);
    }
  }
  for (const [name, { right, merged, planted, findings, defects, kept, calls }] of totals)
    console.log(
      `  ${name}: precision ${percent(right / merged)} %, recall ${percent(right / planted)} % of ${planted} pairs; ${findings} findings of ${defects} defects, ${kept} kept, ${calls} calls`,
    );
}

const judgeErrorRate = 0.1;

async function dedupeWithJudge(
  planted: readonly PlantedFinding[],
  seed: number,
): Promise<{ readonly clusters: readonly (readonly number[])[]; readonly calls: number }> {
  const random = createRandom(seed + 77);
  const positions = new Map<string, number>();
  // The judge finds the defect by the text and the place: its number is not part of a finding.
  const keyOf = ({ text, file, lines }: Omit<PlantedFinding, 'defect'>): string => JSON.stringify([text, file, lines]);
  for (const [i, finding] of planted.entries()) positions.set(keyOf(finding), planted[i]?.defect ?? -1);
  const result = await mapReduce({
    task: 'x',
    signal,
    budget: { calls: 2e3 },
    maxJudged: 1e3,
    items: [
      {
        name: 'all',
        text: '',
      },
    ],
    mappers: [named('mapper', 'a', () => planted.map(({ defect: _, ...finding }) => finding))],
    judge: named('judge', 'b', ({ first, second }) => {
      const isSame = positions.get(keyOf(first)) === positions.get(keyOf(second));
      return { same: random() < judgeErrorRate ? !isSame : isSame };
    }),
  });
  return {
    clusters: result.findings.map(({ sources }) => sources.map(({ index }) => index)),
    calls: result.spent.calls - 1,
  };
}

const tasks = Number(process.argv[2] ?? 150);
if (!Number.isInteger(tasks) || tasks < 2) throw new RangeError('The number of tasks must be a whole number from 2.');
console.log(`Tasks: ${families.length} families with ${tasks} each`);
for (const { name, favours } of families) console.log(`  ${name}: favours ${favours}`);
for (const [verifier, calls] of [
  ['critic', 10],
  ['critic', 20],
  ['test', 10],
] as const) {
  console.log(
    verifier === 'critic'
      ? `\n${calls} model calls for each method; a critic decides, and its calls count (each part: ${criticRates.falsePositive * 100} % false positives, ${criticRates.falseNegative * 100} % false negatives, ${criticRates.systematic * 100} % of them systematic)`
      : `\n${calls} model calls for each method; a test decides and costs none`,
  );
  printComparison(await measure(verifier, calls, tasks), tasks);
}
console.log(
  `\nDuplicates, kinds of defects that no threshold was chosen on; the judge errs in ${judgeErrorRate * 100} % of pairs`,
);
await measureDuplicates([11, 12, 13]);
