// What a run's reason says about it: the one table behind every rate of health, objectives and drift.
import type { StopReason, RunStats } from '../../core/index.ts';
import { computeRate, type RateCount, type Rate } from './rates.ts';

/**
 * What became of a run. `answered`: there is an answer. `abstained`: it was not sure and said so. `error`: something broke, or it went round
 * in circles. `limited`: a bound that somebody set came first. `cancelled`: a person or the kill-switch ended it, which says nothing
 * about how well the fleet works.
 */
export type OutcomeClass = 'answered' | 'abstained' | 'error' | 'limited' | 'cancelled';

/** The class of every reason. */
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

/** How many runs came out in which way. */
export type Outcomes = Readonly<Record<OutcomeClass, number>>;

/** What the runs of these stretches came to. */
export function countOutcomes(tallies: readonly Pick<RunStats, 'reasons'>[]): Outcomes {
  const counts = { answered: 0, abstained: 0, error: 0, limited: 0, cancelled: 0 };
  for (const { reasons } of tallies)
    for (const [reason, outcome] of Object.entries(outcomeClasses))
      counts[outcome] += reasons[reason as StopReason] ?? 0;
  return counts;
}

/** The count of a class among the runs that were not called off. */
export function getOutcomeCount(outcomes: Outcomes, outcome: Exclude<OutcomeClass, 'cancelled'>): RateCount {
  const { answered, abstained, error, limited } = outcomes;
  return { good: outcomes[outcome], total: answered + abstained + error + limited };
}

/** The rates of some runs. All are of those that were not called off; `good` counts the ones of the name. */
export type Rates = {
  readonly ended: number;
  readonly cancelled: number;
  readonly answered: Rate;
  readonly errors: Rate;
  readonly abstained: Rate;
  readonly limited: Rate;
};

/** The rates of these outcomes. */
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
