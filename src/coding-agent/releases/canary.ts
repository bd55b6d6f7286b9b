// Decides about a canary from the results of its runs: roll back if it is worse than the current release or misses an objective, activate it after enough runs.
import type { FleetRun } from '../../core/index.ts';
import {
  defaultObjectives,
  evaluateObjectives,
  newcombeInterval,
  outcomeClasses,
  wilsonInterval,
  zScoreForConfidence,
  type Objectives,
  type RateCount,
} from '../../fleet/health/index.ts';

/** An ended run: which release it ran on, and how it ended. */
export type CanaryRun = {
  readonly release: string;
  readonly isGood: boolean;
  readonly ended: string;
  readonly durationMs: number;
  readonly usd: number;
};

/** When a canary is rolled back or activated. */
export type CanaryOptions = {
  /** The number of runs of the canary after which it is activated; 200 by default. */
  readonly runs?: number;
  /** Results are compared after each so many runs of the canary; 10 by default. */
  readonly step?: number;
  /** By how much the share of good runs may be lower; 0 by default. */
  readonly margin?: number;
  /** The probability that a canary as good as the current release is rolled back; 0.05 by default. */
  readonly alpha?: number;
  /** The targets that the canary must not miss; those of the fleet by default. */
  readonly objectives?: Objectives;
  /** The mean cost of a run may be at most so many times that of the current release; no limit by default. */
  readonly maxCostRatio?: number;
};

/** The decision, and the results that it rests on. */
export type CanaryDecision = {
  readonly decision: 'continue' | 'activate' | 'roll-back';
  readonly reason: string;
  readonly canary: RateCount;
  readonly current: RateCount;
};

/** Returns the ended runs that say something about a release: those that were not cancelled. */
export const toCanaryRuns = (runs: readonly FleetRun[]): readonly CanaryRun[] =>
  runs.flatMap(({ outcome, started, ended }) => {
    if (outcome?.release === undefined || started === undefined || ended === undefined) return [];
    const outcomeClass = outcomeClasses[outcome.reason];
    if (outcomeClass === 'cancelled') return [];
    return [
      {
        release: outcome.release,
        // An abstention is a correct end: a run that is not sure says so.
        isGood: outcomeClass === 'answered' || outcomeClass === 'abstained',
        ended,
        durationMs: Math.max(0, Date.parse(ended) - Date.parse(started)),
        usd: outcome.spent.usd,
      },
    ];
  });

/**
 * Decides about a canary. The results are compared after `step`, 2 × `step`, … runs of the canary, in the order of their ends, so that
 * the decision does not depend on when or how often this is called. The error probability of all comparisons together is `alpha`.
 */
export function decideCanary(
  releases: { readonly canary: string; readonly current: string | undefined },
  runs: readonly CanaryRun[],
  options: CanaryOptions = {},
): CanaryDecision {
  const { step = 10, runs: enough = 200 } = options;
  const ordered = runs.toSorted((a, b) => (a.ended < b.ended ? -1 : 1));
  const canary = ordered.filter(({ release }) => release === releases.canary);
  const current = ordered.filter(({ release }) => release === releases.current);
  for (let look = 1; look * step <= canary.length; look++) {
    const seen = canary.slice(0, look * step);
    const until = seen.at(-1)?.ended ?? '';
    const before = current.filter(({ ended }) => ended <= until);
    const counts = { canary: countGood(seen), current: countGood(before) };
    const problem = findProblem(seen, before, look, options);
    if (problem !== undefined) return { decision: 'roll-back', reason: problem, ...counts };
    if (seen.length >= enough)
      return { decision: 'activate', reason: `${seen.length} runs of the canary are not worse.`, ...counts };
  }
  return {
    decision: 'continue',
    reason: `${canary.length} of ${enough} runs of the canary have ended.`,
    canary: countGood(canary),
    current: countGood(current),
  };
}

const countGood = (runs: readonly CanaryRun[]): RateCount => ({
  good: runs.filter(({ isGood }) => isGood).length,
  total: runs.length,
});

function findProblem(
  canary: readonly CanaryRun[],
  current: readonly CanaryRun[],
  look: number,
  { margin = 0, alpha = 0.05, objectives = defaultObjectives, maxCostRatio }: CanaryOptions,
): string | undefined {
  // The levels of all looks add up to alpha, because the sum of 1/k² is π²/6.
  const level = (alpha * 6) / (Math.PI * look) ** 2;
  // The comparison and the objective are two tests, each one-sided.
  const deviate = zScoreForConfidence(1 - level);
  const [mine, theirs] = [countGood(canary), countGood(current)];
  const shares = `${formatCount(mine)} of the canary, ${formatCount(theirs)} of the current release`;
  if (theirs.total > 0 && newcombeInterval(theirs, mine, deviate)[0] > margin) return `Fewer runs are good: ${shares}.`;
  if (wilsonInterval(mine, deviate)[1] < objectives.answered)
    return `The canary misses the objective of ${objectives.answered} good runs: ${formatCount(mine)}.`;
  const outcomes = { answered: mine.good, error: mine.total - mine.good, abstained: 0, limited: 0, cancelled: 0 };
  const durations = { queueMs: [], durationMs: canary.map(({ durationMs }) => durationMs) };
  const slow = evaluateObjectives(outcomes, durations, objectives).find(({ id }) => id === 'tookMs');
  if (slow?.verdict === 'missed') return `The canary misses the objective of ${objectives.tookMs} ms for a run.`;
  const ratio = meanCost(canary) / meanCost(current);
  if (maxCostRatio !== undefined && Number.isFinite(ratio) && ratio > maxCostRatio)
    return `A run costs ${ratio.toFixed(2)} times as much as on the current release.`;
  return undefined;
}

const formatCount = ({ good, total }: RateCount): string => `${good} of ${total}`;

const meanCost = (runs: readonly CanaryRun[]): number =>
  runs.length === 0 ? Number.NaN : runs.reduce((sum, { usd }) => sum + usd, 0) / runs.length;
