// The scorers of the router: each returns a score from 0 to 1 with a reason.
import type { ModelCandidate, CandidateScore, RoutingContext } from './candidate.ts';
import type { TaskKind } from './keyword-weights.ts';
import type { PastRun } from './run-history.ts';
import type { TaskFeatures } from './task-features.ts';

type Scorer = (
  candidate: ModelCandidate,
  routingContext: RoutingContext,
  task: TaskFeatures,
) => Omit<CandidateScore, 'scorer'>;

/** The difficulty gap at which the capability score is 0. */
const maxComplexityGap = 0.35;

const taskScorer: Scorer = ({ quality }, _, { complexity }) => {
  const beyond = complexity - quality;
  return beyond <= 0
    ? { score: 1, why: `trusted with ${formatPercent(quality)}` }
    : {
        score: Math.max(0, 1 - beyond / maxComplexityGap),
        why: `trusted with ${formatPercent(quality)}, and the task is at ${formatPercent(complexity)}`,
      };
};

/** Default response tokens. */
const defaultOutputTokens = 1000;
/** The cost at which the score is halved; with a budget, a tenth of the rest. */
const halfScoreUsd = 0.01;

const costScorer: Scorer = ({ price }, { context, usdLeft }) => {
  if (!price) return { score: 0, why: 'its price is unknown' };
  const usd = (context * price.input + defaultOutputTokens * price.output) / 1e6;
  if (usd === 0) return { score: 1, why: 'costs nothing' };
  const half = usdLeft === undefined ? halfScoreUsd : Math.min(halfScoreUsd, usdLeft / 10);
  return { score: half / (half + usd), why: `about $${usd.toFixed(4)} a turn` };
};

const contextScorer: Scorer = ({ window }, { context: tokens }) => {
  if (window === undefined) return { score: 0.5, why: 'its window is unknown' };
  const filled = tokens / window;
  return { score: Math.max(0, Math.min(1, (0.9 - filled) / 0.4)), why: `fills ${formatPercent(filled)} of its window` };
};

/** Prior success rate and its weight in runs. */
const successPrior = { share: 0.8, runs: 3 };
const halfLifeMs = 14 * 24 * 60 * 60 * 1000;

const successScorer: Scorer = (candidate, { past, now }, { kind }) => {
  const { share, well, runs } = successRate(candidate, past, kind, now);
  return { score: share, why: runs === 0 ? 'not tried yet' : `${well} of ${runs} runs like this (${kind}) ended well` };
};

/** The success rate for this kind of task, decayed by age and smoothed by the prior. */
function successRate(
  candidate: ModelCandidate,
  past: readonly PastRun[],
  kind: TaskKind,
  now: number,
): { readonly share: number; readonly well: number; readonly runs: number } {
  const candidateRuns = answeredRuns(candidate, past);
  const sameKindRuns = candidateRuns.filter((each) => each.kind === kind);
  const overallRate = decayedSuccessRate(candidateRuns, now, successPrior.share);
  return {
    share: decayedSuccessRate(sameKindRuns, now, overallRate),
    well: sameKindRuns.filter(({ ended }) => ended === 'well').length,
    runs: sameKindRuns.length,
  };
}

function decayedSuccessRate(runs: readonly PastRun[], now: number, priorRate: number): number {
  let [well, total] = [priorRate * successPrior.runs, successPrior.runs];
  for (const { ended, time } of runs) {
    const weight = 0.5 ** (Math.max(0, now - time) / halfLifeMs);
    total += weight;
    if (ended === 'well') well += weight;
  }
  return well / total;
}

/** The runs of a model, by router name or log name. */
export const runsOfCandidate = ({ name, model }: ModelCandidate, past: readonly PastRun[]): readonly PastRun[] =>
  past.filter((each) => (each.name === undefined ? each.model === model : each.name === name));

/** Outages do not count as failures; the model is excluded for a while instead. */
const answeredRuns = (candidate: ModelCandidate, past: readonly PastRun[]): readonly PastRun[] =>
  runsOfCandidate(candidate, past).filter(({ ended }) => ended !== 'unreachable');

/** Number of turns in the mean. */
const latencySampleRuns = 20;
/** The latency at which the score is halved. */
const halfScoreLatencyMs = 15_000;

const latencyScorer: Scorer = (candidate, { past }) => {
  const runs = answeredRuns(candidate, past).slice(-latencySampleRuns);
  const turns = runs.reduce((sum, each) => sum + each.turns, 0);
  if (turns === 0) return { score: 0.5, why: 'not measured yet' };
  const ms = runs.reduce((sum, each) => sum + each.ms, 0) / turns;
  return { score: halfScoreLatencyMs / (halfScoreLatencyMs + ms), why: `${(ms / 1000).toFixed(1)} s a turn` };
};

/** Tokens at which the switching penalty is maximal. */
const longConversationTokens = 30_000;

const stayScorer: Scorer = ({ name }, { current, context: tokens }) => {
  if (current === undefined) return { score: 0, why: 'nothing was said yet' };
  if (name !== current) return { score: 0, why: `would read about ${tokens} tokens again` };
  return { score: 0.3 + 0.7 * Math.min(1, tokens / longConversationTokens), why: 'in use now' };
};

const formatPercent = (share: number): string => `${Math.round(share * 100)} %`;

/** All scorers in display order. */
export const scorers: Readonly<Record<CandidateScore['scorer'], Scorer>> = {
  task: taskScorer,
  cost: costScorer,
  context: contextScorer,
  success: successScorer,
  latency: latencyScorer,
  stay: stayScorer,
};
