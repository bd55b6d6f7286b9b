// Classifies stop reasons; all rates of health, objectives and drift use this table.
import type { StopReason, RunStats } from '../../core/index.ts';
import { computeRate, type RateCount, type Rate } from './statistics.ts';

/**
 * The class of an outcome. `abstained`: the run said that it was not sure. `error`: something failed, or the run made no progress.
 * `limited`: the run reached a limit. `cancelled`: the user or the kill switch ended it, which says nothing about how well the fleet works.
 */
export type OutcomeClass = 'answered' | 'abstained' | 'error' | 'limited' | 'cancelled';

/** The class of each stop reason. */
export const outcomeClasses: Readonly<Record<StopReason, OutcomeClass>> = {
  answered: 'answered',
  'task-complete': 'answered',
  abstained: 'abstained',
  truncated: 'error',
  'error-threshold': 'error',
  stuck: 'error',
  'provider-error': 'error',
  'max-turns': 'limited',
  'token-budget': 'limited',
  'money-budget': 'limited',
  'call-budget': 'limited',
  time: 'limited',
  rule: 'limited',
  'kill-switch': 'cancelled',
  cancelled: 'cancelled',
};

/** The number of runs by class. */
export type Outcomes = Readonly<Record<OutcomeClass, number>>;

/** Counts the runs of these buckets by class. */
export function countOutcomes(stats: readonly Pick<RunStats, 'reasons'>[]): Outcomes {
  const counts = { answered: 0, abstained: 0, error: 0, limited: 0, cancelled: 0 };
  for (const { reasons } of stats)
    for (const [reason, outcome] of Object.entries(outcomeClasses))
      counts[outcome] += reasons[reason as StopReason] ?? 0;
  return counts;
}

/** Returns the count of a class among the runs that were not cancelled. */
export function getOutcomeCount(outcomes: Outcomes, outcome: Exclude<OutcomeClass, 'cancelled'>): RateCount {
  const { answered, abstained, error, limited } = outcomes;
  return { good: outcomes[outcome], total: answered + abstained + error + limited };
}

/** Rates of the runs that were not cancelled; `good` counts the runs of the class. */
export type Rates = {
  readonly ended: number;
  readonly cancelled: number;
  readonly answered: Rate;
  readonly errors: Rate;
  readonly abstained: Rate;
  readonly limited: Rate;
};

/** Returns the rates of these outcomes. */
export function computeRates(outcomes: Outcomes): Rates {
  const of = (outcome: Exclude<OutcomeClass, 'cancelled'>): Rate => computeRate(getOutcomeCount(outcomes, outcome));
  return {
    ended: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
    cancelled: outcomes['cancelled'],
    answered: of('answered'),
    errors: of('error'),
    abstained: of('abstained'),
    limited: of('limited'),
  };
}
