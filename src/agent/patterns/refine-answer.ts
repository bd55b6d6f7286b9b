// Evaluator and optimizer: an author writes, an evaluator that is not the author scores and criticises, and the author improves; the best seen is kept.
import { assertWhole, badOptionError } from './errors.ts';
import { createPrompt, type RoleTask } from './call-member.ts';
import { assertIndependent, findDependence, resolveMember, type Member, type Participant } from './participant.ts';
import {
  assertPatternOptions,
  withPatternRun,
  type AskResult,
  type PatternOptions,
  type PatternReport,
  type PatternRun,
  type PatternStop,
} from './pattern-run.ts';
import {
  dataSentence,
  evaluationSchema,
  quoteOutside,
  readEvaluation,
  readText,
  type Evaluation,
} from './read-answer.ts';

/** What the author gets. */
export type AuthorInput = {
  readonly task: string;
  /** Counted from 1. */
  readonly round: number;
  /** The best answer so far with its evaluation; absent in the first round, and if the author starts anew. */
  readonly best?: { readonly text: string; readonly score?: number; readonly feedback?: string };
};

/** What the evaluator gets: neither the round nor earlier scores, so that being later is no reason for a better score. */
export type EvaluatorInput = { readonly task: string; readonly text: string };

/** Options of refineAnswer. */
export type RefineOptions = PatternOptions & {
  readonly task: string;
  readonly author: Participant<AuthorInput, string>;
  /** Must not be the author, nor of its model family. */
  readonly evaluator: Participant<EvaluatorInput, Evaluation>;
  /** Answers of the author at most; 4 by default. */
  readonly maxRounds?: number;
  /** The score that ends the pattern; 1 by default. */
  readonly target?: number;
  /** How much better a score must be to count as an improvement; 0.01 by default. */
  readonly minGain?: number;
  /** Rounds without improvement after which it ends; 1 by default. After every second of them the author starts anew instead of improving the best answer. */
  readonly patience?: number;
  /** Evaluations of each answer, whose mean is its score; 1 by default. */
  readonly evaluations?: number;
};

/** One answer of the author. */
export type RefinementRound = {
  readonly round: number;
  readonly text: string;
  /** Absent if no evaluation of it succeeded. */
  readonly score?: number;
  readonly feedback?: string;
  /** Whether it was the best until then. */
  readonly improved: boolean;
};

/** The best answer, and every answer with its score. */
export type RefineResult = PatternReport & {
  /** The best answer; undefined if the author never answered. */
  readonly text: string | undefined;
  /** The score of the best answer; undefined if it could not be evaluated. */
  readonly score: number | undefined;
  /** The round of the best answer. */
  readonly round: number | undefined;
  readonly rounds: readonly RefinementRound[];
};

const authorTask: RoleTask<AuthorInput, string> = {
  role: 'author',
  format: ({ task, best }) =>
    createPrompt(
      best
        ? `You improve an answer to a task. ${dataSentence} Use the critique where it is right. Reply with the whole improved answer and nothing else.`
        : 'You do a task. Reply with the answer and nothing else.',
      `The task:\n${task}`,
      ...(best ? [quoteOutside('the answer so far', best.text)] : []),
      ...(best?.feedback ? [quoteOutside('the critique', best.feedback)] : []),
    ),
  read: readText,
};

const evaluatorTask: RoleTask<EvaluatorInput, Evaluation> = {
  role: 'evaluator',
  schema: evaluationSchema,
  format: ({ task, text }) =>
    createPrompt(
      `You evaluate an answer to a task, which another author wrote. ${dataSentence} Reply with JSON: {"score": number from 0 to 1, "feedback": "what is wrong and what to change"}.`,
      `The task:\n${task}`,
      quoteOutside('the answer', text),
    ),
  read: readEvaluation,
};

/** Lets an author improve its answer with the critique of an independent evaluator, and returns the best answer that was seen. */
export async function refineAnswer(options: RefineOptions): Promise<RefineResult> {
  const { maxRounds = 4, target = 1, minGain = 0.01, patience = 1, evaluations = 1 } = options;
  assertPatternOptions(options);
  assertWhole('maxRounds', maxRounds, 1, 1000);
  assertWhole('patience', patience, 1, 1000);
  assertWhole('evaluations', evaluations, 1, 100);
  for (const [name, value] of [
    ['target', target],
    ['minGain', minGain],
  ] as const)
    if (!(value >= 0 && value <= 1)) throw badOptionError(`${name} must be a number from 0 to 1, not ${value}.`);
  const author = await resolveMember('author', options.author);
  const evaluator = await resolveMember('evaluator', options.evaluator);
  assertIndependent('evaluator', [evaluator], [author]);

  return withPatternRun('refine-answer', options, [author, evaluator], async (run) => {
    const rounds: RefinementRound[] = [];
    let best: RefinementRound | undefined;
    const finish = async (stop: PatternStop, detail: string): Promise<RefineResult> => ({
      ...(await run.finish(stop, detail)),
      text: best?.text,
      score: best?.score,
      round: best?.round,
      rounds,
    });
    let withoutGain = 0;
    for (let round = 1; round <= maxRounds; round++) {
      const about = `round ${round}`;
      const isAnew = withoutGain % 2 === 1;
      const input: AuthorInput = { task: options.task, round, ...(best && !isAnew ? { best: toBest(best) } : {}) };
      const written = await run.ask(author, authorTask, input, { about });
      if (written.type === 'stopped') return finish(written.stop, written.why);
      if (written.type === 'failed') return finish('failed', `The author failed in round ${round}: ${written.why}`);
      const seen = rounds.find(({ text }) => text.trim() === written.value.trim());
      if (seen) {
        rounds.push({ ...seen, round, improved: false });
        if (++withoutGain >= patience)
          return finish('no-improvement', `The answer of round ${round} is that of round ${seen.round}.`);
        continue;
      }
      const judged = await evaluate(
        run,
        { ...options, evaluations },
        { author: written.by, evaluator },
        written.value,
        about,
      );
      const score = judged.type === 'ok' ? judged.value.score : undefined;
      // Without any score, the first answer is kept: nothing says that a later one is better.
      const isBetter = best === undefined || (score !== undefined && (best.score === undefined || score > best.score));
      const isGain =
        score !== undefined && (best?.score === undefined || score >= Math.min(1, best.score + minGain)) && isBetter;
      const current: RefinementRound = {
        round,
        text: written.value,
        improved: isBetter,
        ...(judged.type === 'ok' ? judged.value : {}),
      };
      rounds.push(current);
      if (isBetter) best = current;
      if (judged.type === 'stopped') return finish(judged.stop, judged.why);
      if (score !== undefined && score >= target) return finish('target', `The score ${score} is at least ${target}.`);
      withoutGain = isGain ? 0 : withoutGain + 1;
      if (withoutGain >= patience)
        return judged.type === 'failed'
          ? finish('failed', `The evaluator failed in round ${round}: ${judged.why}`)
          : finish('no-improvement', `Round ${round} was not better by ${minGain} than the best one.`);
    }
    return finish('rounds', `The maximum of ${maxRounds} rounds was reached.`);
  });
}

const toBest = ({ text, score, feedback }: RefinementRound): NonNullable<AuthorInput['best']> => ({
  text,
  ...(score === undefined ? {} : { score }),
  ...(feedback === undefined ? {} : { feedback }),
});

/** Asks the evaluator as often as requested. The mean counts; an evaluation that failed is no score. */
async function evaluate(
  run: PatternRun,
  { task, evaluations }: Pick<RefineOptions, 'task'> & { readonly evaluations: number },
  { author, evaluator }: Record<'author' | 'evaluator', Member>,
  text: string,
  about: string,
): Promise<AskResult<Evaluation>> {
  const found: Evaluation[] = [];
  let last: AskResult<Evaluation> | undefined;
  for (let i = 0; i < evaluations; i++) {
    last = await run.ask(
      evaluator,
      evaluatorTask,
      { task, text },
      {
        about,
        refuse: (answered) => {
          const why = findDependence(answered, author);
          return why === undefined ? undefined : `The evaluation does not count: ${why}.`;
        },
      },
    );
    if (last.type === 'stopped') break;
    if (last.type === 'ok') found.push(last.value);
  }
  if (found.length === 0) return last ?? { type: 'failed', why: 'There was no evaluation.' };
  const score = found.reduce((sum, each) => sum + each.score, 0) / found.length;
  const feedback = found
    .map((each) => each.feedback)
    .filter((each) => each !== '')
    .join('\n');
  return { type: 'ok', value: { score, feedback }, by: evaluator };
}
