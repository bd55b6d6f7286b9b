// What speaks for a model: each scorer gives a number from 0 to 1 and says why.
import type { Candidate, Score, Situation } from './candidate.ts';
import type { Kind } from './lexicon.ts';
import type { Ran } from './past-runs.ts';
import type { TaskFeatures } from './task.ts';

type Scorer = (candidate: Candidate, situation: Situation, task: TaskFeatures) => Omit<Score, 'scorer'>;

/** How far a task may go beyond what a model is trusted with before nothing speaks for it. */
const reach = 0.35;

const task: Scorer = ({ quality }, _, { complexity }) => {
  const beyond = complexity - quality;
  return beyond <= 0
    ? { score: 1, why: `trusted with ${percent(quality)}` }
    : {
        score: Math.max(0, 1 - beyond / reach),
        why: `trusted with ${percent(quality)}, and the task is at ${percent(complexity)}`,
      };
};

/** Tokens that an answer has where nobody knows. */
const usualAnswer = 1000;
/** Dollars a run may cost until half of the score is gone; where a budget is set, a tenth of what is left. */
const usualCost = 0.01;

const cost: Scorer = ({ price }, { context, usdLeft }) => {
  if (!price) return { score: 0, why: 'its price is unknown' };
  const usd = (context * price.input + usualAnswer * price.output) / 1e6;
  if (usd === 0) return { score: 1, why: 'costs nothing' };
  const half = usdLeft === undefined ? usualCost : Math.min(usualCost, usdLeft / 10);
  return { score: half / (half + usd), why: `about $${usd.toFixed(4)} a turn` };
};

const context: Scorer = ({ window }, { context: tokens }) => {
  if (window === undefined) return { score: 0.5, why: 'its window is unknown' };
  const filled = tokens / window;
  return { score: Math.max(0, Math.min(1, (0.9 - filled) / 0.4)), why: `fills ${percent(filled)} of its window` };
};

/** What is believed of a model that nobody tried, and how many runs that weighs. */
const prior = { share: 0.8, runs: 3 };
const halfLifeMs = 14 * 24 * 60 * 60 * 1000;

const success: Scorer = (candidate, { past, now }, { kind }) => {
  const { share, well, runs } = successOf(candidate, past, kind, now);
  return { score: share, why: runs === 0 ? 'not tried yet' : `${well} of ${runs} runs like this (${kind}) ended well` };
};

/** How much of its work of this kind a model does well: what was long ago counts less, and a few runs do not decide. */
function successOf(
  candidate: Candidate,
  past: readonly Ran[],
  kind: Kind,
  now: number,
): { readonly share: number; readonly well: number; readonly runs: number } {
  const mine = answeredBy(candidate, past);
  const alike = mine.filter((each) => each.kind === kind);
  const all = decayed(mine, now, prior.share);
  return {
    share: decayed(alike, now, all),
    well: alike.filter(({ ended }) => ended === 'well').length,
    runs: alike.length,
  };
}

function decayed(rans: readonly Ran[], now: number, believed: number): number {
  let [well, all] = [believed * prior.runs, prior.runs];
  for (const { ended, time } of rans) {
    const weight = 0.5 ** (Math.max(0, now - time) / halfLifeMs);
    all += weight;
    if (ended === 'well') well += weight;
  }
  return well / all;
}

/** The runs of a model: by the name it was chosen by, or else by the name the log has for it. */
export const ransOf = ({ name, model }: Candidate, past: readonly Ran[]): readonly Ran[] =>
  past.filter((each) => (each.name === undefined ? each.model === model : each.name === name));

/** A model that could not be reached shows nothing of what it can do: it is left alone for a while instead. */
const answeredBy = (candidate: Candidate, past: readonly Ran[]): readonly Ran[] =>
  ransOf(candidate, past).filter(({ ended }) => ended !== 'unreachable');

/** The turns that the mean is taken of. */
const latestRuns = 20;
/** A turn that takes so long has half of the score. */
const patienceMs = 15_000;

const latency: Scorer = (candidate, { past }) => {
  const rans = answeredBy(candidate, past).slice(-latestRuns);
  const turns = rans.reduce((sum, each) => sum + each.turns, 0);
  if (turns === 0) return { score: 0.5, why: 'not measured yet' };
  const ms = rans.reduce((sum, each) => sum + each.ms, 0) / turns;
  return { score: patienceMs / (patienceMs + ms), why: `${(ms / 1000).toFixed(1)} s a turn` };
};

/** Tokens from which on a change of model costs as much as it can. */
const longTalk = 30_000;

const stay: Scorer = ({ name }, { current, context: tokens }) => {
  if (current === undefined) return { score: 0, why: 'nothing was said yet' };
  if (name !== current) return { score: 0, why: `would read about ${tokens} tokens anew` };
  return { score: 0.3 + 0.7 * Math.min(1, tokens / longTalk), why: 'in use now' };
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Every scorer, in the order they are told. */
export const scorers: Readonly<Record<Score['scorer'], Scorer>> = { task, cost, context, success, latency, stay };
