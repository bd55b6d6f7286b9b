// Debate: participants argue over some rounds, and judges that are none of them choose. Judges get arguments without names, in orders that a seed shuffles.
import { createRandom } from '../../checks/calibration/index.ts';
import { createPrompt, type ReadResult, type RoleTask } from './call-member.ts';
import { assertWhole, badOptionError } from './errors.ts';
import { assertIndependent, codeFamily, findDependence, type Member, type Participant } from './participant.ts';
import {
  assertPatternOptions,
  resolveMembers,
  withPatternRun,
  type PatternOptions,
  type PatternReport,
  type PatternRun,
  type PatternStop,
} from './pattern-run.ts';
import { dataSentence, quoteOutside, readObject, readText } from './read-answer.ts';

/** What a debater gets. */
export type DebaterInput = {
  readonly question: string;
  /** Counted from 1. */
  readonly round: number;
  /** The last statement of the debater itself. */
  readonly own?: string;
  /** The last statements of the others, without names. */
  readonly others: readonly string[];
};

/** What a judge gets: the statements of each side under a letter, in an order that changes with each request. */
export type JudgeInput = {
  readonly question: string;
  readonly sides: readonly { readonly label: string; readonly statements: readonly string[] }[];
};

/** What a judge returns: the letter of the better side, or null for none. */
export type JudgeChoice = { readonly winner: string | null; readonly why?: string };

/** Options of debate. */
export type DebateOptions = PatternOptions & {
  readonly question: string;
  /** At least two. */
  readonly debaters: readonly Participant<DebaterInput, string>[];
  /** At least one; none of them a debater or of the model family of one. */
  readonly judges: readonly Participant<JudgeInput, JudgeChoice>[];
  /** Statements of each debater; 2 by default. */
  readonly rounds?: number;
  /** Requests to each judge: each second one has the reversed order of the one before. A judge whose choice depends on the order gives no vote. 2 by default. */
  readonly orders?: number;
  /** The orders depend on it alone; 1 by default. */
  readonly seed?: number;
};

/** The vote of one judge. */
export type DebateVote = {
  readonly judge: string;
  /** The family of the model that answered, which a fallback can change. */
  readonly family: string;
  /** The name of the debater; undefined if the judge gave no vote. */
  readonly winner: string | undefined;
  /** Why there is no vote, or what the judge said. */
  readonly why: string;
  /** The debaters in the order of each request. */
  readonly orders: readonly (readonly string[])[];
};

/** The statements of one debater. */
export type DebateSide = {
  readonly name: string;
  readonly family: string;
  readonly statements: readonly string[];
  /** Why the debater gave no statement in a round. */
  readonly failures: readonly string[];
};

/** The winner, the votes and the statements. */
export type DebateResult = PatternReport & {
  /** The debater with the most votes of families; undefined without a vote and after a tie. */
  readonly winner: string | undefined;
  /** The last statement of the winner. */
  readonly text: string | undefined;
  readonly votes: readonly DebateVote[];
  readonly sides: readonly DebateSide[];
};

type Side = { readonly member: Member; readonly statements: string[]; readonly failures: string[]; answered: Member[] };

const debaterTask: RoleTask<DebaterInput, string> = {
  role: 'debater',
  format: ({ question, own, others }) =>
    createPrompt(
      `You take part in a debate. Answer the question and give your reasons. ${dataSentence} Change your answer if the others are right, and say where they are wrong. Reply with your answer and its reasons alone.`,
      `The question:\n${question}`,
      ...(own === undefined ? [] : [quoteOutside('your last statement', own)]),
      ...others.map((text, i) => quoteOutside(`statement of another debater, ${i + 1}`, text)),
    ),
  read: readText,
};

const judgeTask = (labels: readonly string[]): RoleTask<JudgeInput, JudgeChoice> => ({
  role: 'judge',
  schema: {
    type: 'object',
    properties: { winner: { type: ['string', 'null'], enum: [...labels, null] }, why: { type: 'string' } },
    required: ['winner', 'why'],
    additionalProperties: false,
  },
  format: ({ question, sides }) =>
    createPrompt(
      `You judge a debate by its arguments alone: neither the order nor the length counts. ${dataSentence} Reply with JSON: {"winner": the letter of the side that answers the question best, or null if you cannot tell, "why": "one sentence"}.`,
      `The question:\n${question}`,
      ...sides.map(({ label, statements }) => quoteOutside(`side ${label}`, statements.join('\n\n'))),
    ),
  read: (value): ReadResult<JudgeChoice> => {
    const found = readObject(value);
    const winner = found?.['winner'];
    const why = typeof found?.['why'] === 'string' ? found['why'].slice(0, 600) : '';
    if (winner === null || (typeof winner === 'string' && labels.includes(winner)))
      return { value: { winner, why }, text: `${winner ?? 'none'}: ${why}` };
    return { problem: `The judge chose no side: one of ${labels.join(', ')}, or null, was expected.` };
  },
});

/** Lets participants argue about a question and independent judges choose the best answer. */
export async function debate(options: DebateOptions): Promise<DebateResult> {
  const { question, rounds = 2, orders = 2, seed = 1 } = options;
  assertPatternOptions(options);
  assertWhole('rounds', rounds, 1, 100);
  assertWhole('orders', orders, 1, 100);
  assertWhole('seed', seed, 0, 2 ** 31);
  if (options.debaters.length < 2 || options.debaters.length > 26)
    throw badOptionError(`A debate needs 2 to 26 debaters, not ${options.debaters.length}.`);
  if (options.judges.length === 0) throw badOptionError('A debate needs a judge.');
  const debaters = await resolveMembers('debater', options.debaters);
  const judges = await resolveMembers('judge', options.judges);
  for (const [role, members] of [
    ['debaters', debaters],
    ['judges', judges],
  ] as const)
    if (new Set(members.map(({ name }) => name)).size < members.length)
      throw badOptionError(`The ${role} need different names.`);
  assertIndependent('judge', judges, debaters);

  return withPatternRun('debate', options, [...debaters, ...judges], async (run) => {
    const sides: Side[] = debaters.map((member) => ({ member, statements: [], failures: [], answered: [member] }));
    const votes: DebateVote[] = [];
    const finish = async (stop: PatternStop, detail: string, winner?: Side): Promise<DebateResult> => ({
      ...(await run.finish(stop, detail)),
      winner: winner?.member.name,
      text: winner?.statements.at(-1),
      votes,
      sides: sides.map(({ member: { name, family }, statements, failures }) => ({
        name,
        family,
        statements,
        failures,
      })),
    });
    const asking = judges.filter(({ family }) => family !== codeFamily).length;
    const ended = await argue(run, question, sides, rounds, asking * orders);
    if (ended) return finish(ended.stop, ended.why);
    const heard = sides.filter(({ statements }) => statements.length > 0);
    if (heard.length < 2)
      return finish('failed', `${heard.length} of ${sides.length} debaters gave a statement; a judge needs two.`);
    const random = createRandom(seed);
    for (const judge of judges) {
      const vote = await askJudge(run, question, judge, heard, createOrders(heard, orders, random));
      if (vote.type === 'stopped') return finish(vote.stop, vote.why);
      votes.push(vote.vote);
      await run.note('vote', { ...vote.vote, winner: vote.vote.winner ?? null });
    }
    const counted = countVotes(votes);
    const [first, second] = counted;
    if (!first) return finish('failed', 'No judge gave a vote.');
    if (second && second.count === first.count)
      return finish('complete', `The judges disagree: ${first.name} and ${second.name} have ${first.count} each.`);
    const winner = heard.find(({ member }) => member.name === first.name);
    return finish('complete', `${first.name} has ${first.count} of the votes of ${votes.length} judges.`, winner);
  });
}

type Ended = { readonly stop: 'budget' | 'aborted'; readonly why: string };

/** The rounds of statements. A debater that fails keeps its last statement. */
async function argue(
  run: PatternRun,
  question: string,
  sides: readonly Side[],
  rounds: number,
  keep: number,
): Promise<Ended | undefined> {
  for (let round = 1; round <= rounds; round++) {
    // All of one round get the statements of the round before, so that the order of the debaters is no advantage.
    const before = sides.map(({ statements }) => statements.at(-1));
    for (const [i, side] of sides.entries()) {
      const own = before[i];
      const others = before.filter((text, at): text is string => at !== i && text !== undefined);
      const input: DebaterInput = { question, round, others, ...(own === undefined ? {} : { own }) };
      const said = await run.ask(side.member, debaterTask, input, { about: `round ${round}`, keep });
      if (said.type === 'stopped') {
        // What is kept for the judges is enough to decide about the statements so far.
        const canJudge =
          said.stop === 'budget' && run.ending() === undefined && sides.every((each) => each.statements.length > 0);
        return canJudge ? undefined : said;
      }
      if (said.type === 'failed') side.failures.push(`Round ${round}: ${said.why}`);
      else {
        side.statements.push(said.value);
        side.answered.push(said.by);
      }
    }
  }
  return undefined;
}

/** Returns shuffled orders; each second one is the one before it reversed. */
function createOrders(sides: readonly Side[], count: number, random: () => number): readonly (readonly Side[])[] {
  const orders: (readonly Side[])[] = [];
  for (let i = 0; i < count; i++) {
    const last = orders.at(-1);
    orders.push(last && i % 2 === 1 ? last.toReversed() : shuffle(sides, random));
  }
  return orders;
}

function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}

/** Asks one judge in every order. A failure, or choices that differ, are no vote. */
async function askJudge(
  run: PatternRun,
  question: string,
  judge: Member,
  sides: readonly Side[],
  orders: readonly (readonly Side[])[],
): Promise<{ readonly type: 'vote'; readonly vote: DebateVote } | ({ readonly type: 'stopped' } & Ended)> {
  const labels = sides.map((_, i) => String.fromCodePoint(65 + i));
  const base = {
    judge: judge.name,
    family: judge.family,
    orders: orders.map((order) => order.map(({ member }) => member.name)),
  };
  const noVote = (why: string): { readonly type: 'vote'; readonly vote: DebateVote } => ({
    type: 'vote',
    vote: { ...base, winner: undefined, why },
  });
  let chosen: Side | undefined;
  let why = '';
  const answered = new Set<string>();
  for (const [i, order] of orders.entries()) {
    const input = { question, sides: order.map(({ statements }, at) => ({ label: labels[at] ?? '', statements })) };
    const said = await run.ask(judge, judgeTask(labels), input, {
      about: `order ${i + 1}`,
      refuse: (model) => {
        const dependence = sides
          .flatMap((side) => side.answered.map((author) => findDependence(model, author)))
          .find((each) => each !== undefined);
        return dependence === undefined ? undefined : `The vote does not count: ${dependence}.`;
      },
    });
    if (said.type === 'stopped') return said;
    if (said.type === 'failed') return noVote(`The judge failed: ${said.why}`);
    const { winner } = said.value;
    const side = winner === null ? undefined : order[labels.indexOf(winner)];
    if (!side) return noVote(`The judge cannot tell. ${said.value.why ?? ''}`.trim());
    if (chosen && chosen !== side) return noVote('The choice of the judge depends on the order of the sides.');
    answered.add(said.by.family);
    if (answered.size > 1) return noVote('Models of several families answered for the judge.');
    chosen = side;
    why = said.value.why ?? '';
  }
  const [family = judge.family] = answered;
  return { type: 'vote', vote: { ...base, family, winner: chosen?.member.name, why } };
}

/** Counts votes by model family: judges of one family are one vote, and none if they disagree. */
function countVotes(votes: readonly DebateVote[]): readonly { readonly name: string; readonly count: number }[] {
  const byFamily = new Map<string, Set<string>>();
  for (const { judge, family, winner } of votes) {
    if (winner === undefined) continue;
    const key = family === codeFamily ? `${codeFamily} ${judge}` : family;
    byFamily.set(key, (byFamily.get(key) ?? new Set()).add(winner));
  }
  const counts = new Map<string, number>();
  for (const winners of byFamily.values())
    if (winners.size === 1) for (const name of winners) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count })).toSorted((a, b) => b.count - a.count);
}
