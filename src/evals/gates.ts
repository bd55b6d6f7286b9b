// The gates of an evaluation: cases that must pass, minimum rates by value or by the lower end of the interval, and limits of cost and time.
import type { Rate } from '../fleet/health/index.ts';
import { formatRate, formatSeconds, type EvalReport } from './report.ts';

/** A condition on a report. */
export type EvalGate =
  /** Every trial of every case with `must` passes, and each was measured. */
  | { readonly type: 'must' }
  /** A rate is at least this; `lower`: the lower end of its 95 % interval is. Of one tag, or of all cases. */
  | { readonly type: 'rate'; readonly atLeast: number; readonly bound: 'value' | 'lower'; readonly tag?: string }
  /** The evaluation cost at most this, and the price of every trial is known. */
  | { readonly type: 'cost'; readonly maxUsd: number }
  /** The 95th percentile of the time of a trial is at most this. */
  | { readonly type: 'latency'; readonly maxMs: number };

/** A comparison with another report, by its name, that must not find this one worse. */
export type ComparisonGate = { readonly type: 'comparison'; readonly with: string };

/** Whether a gate passed, and one sentence that says why. */
export type EvalGateResult = {
  readonly gate: EvalGate | ComparisonGate;
  readonly passed: boolean;
  readonly why: string;
};

/** Returns the result of a comparison as that of a gate, so that every report has it. */
export const toComparisonGate = (name: string, isWorse: boolean): EvalGateResult => ({
  gate: { type: 'comparison', with: name },
  passed: !isWorse,
  why: isWorse
    ? `Worse than ${name}, by more than chance explains.`
    : `Not worse than ${name} by more than chance explains.`,
});

/** Checks the gates of a report. What was not measured does not pass. */
export const checkEvalGates = (report: EvalReport, gates: readonly EvalGate[]): readonly EvalGateResult[] =>
  gates.map((gate) => ({ gate, ...checkGate(report, gate) }));

function checkGate(report: EvalReport, gate: EvalGate): Pick<EvalGateResult, 'passed' | 'why'> {
  if (gate.type === 'must') return checkMust(report);
  if (gate.type === 'rate') return checkRate(report, gate);
  if (gate.type === 'cost') {
    const { usd, judgeUsd, trialsWithoutPrice } = report.cost;
    const total = usd + judgeUsd;
    const unknown = trialsWithoutPrice > 0 ? `, and the price of ${trialsWithoutPrice} trials is unknown` : '';
    return {
      passed: total <= gate.maxUsd && trialsWithoutPrice === 0,
      why: `The cost is $${total.toFixed(4)}${unknown}; at most $${gate.maxUsd} is allowed.`,
    };
  }
  const { latencyMs } = report;
  return {
    passed: latencyMs !== undefined && latencyMs.p95 <= gate.maxMs,
    why: `The 95th percentile of the time is ${latencyMs ? formatSeconds(latencyMs.p95) : 'not measured'}; at most ${formatSeconds(gate.maxMs)} is allowed.`,
  };
}

function checkMust({ cases, interrupted }: EvalReport): Pick<EvalGateResult, 'passed' | 'why'> {
  const own = cases.filter(({ must }) => must === true);
  const failed = own.filter(({ trials }) => trials.some(({ responded, right }) => !responded || !right));
  if (failed.length > 0) {
    const names = failed.slice(0, 10).map(({ id }) => id);
    const more = failed.length > 10 ? ` and ${failed.length - 10} more` : '';
    return {
      passed: false,
      why: `${failed.length} of ${own.length} cases that must pass did not: ${names.join(', ')}${more}.`,
    };
  }
  // A case that was not run has not passed, and an incomplete report does not say which ones are missing.
  if (interrupted)
    return { passed: false, why: 'The evaluation was not finished, so not every case that must pass was run.' };
  return {
    passed: true,
    why: own.length === 0 ? 'No case must pass.' : `All cases that must pass did (${own.length}).`,
  };
}

function checkRate(
  { right, tags }: EvalReport,
  { atLeast, bound, tag }: Extract<EvalGate, { type: 'rate' }>,
): Pick<EvalGateResult, 'passed' | 'why'> {
  const rate: Rate | undefined = tag === undefined ? right : Object.hasOwn(tags, tag) ? tags[tag] : undefined;
  const of = tag === undefined ? 'The rate' : `The rate of ${tag}`;
  if (!rate || rate.rate === null) return { passed: false, why: `${of} was not measured.` };
  const reached = bound === 'lower' ? rate.interval[0] : rate.rate;
  const needed =
    bound === 'lower' ? `the lower end of the interval must be at least ${atLeast}` : `${atLeast} is required`;
  // The tolerance keeps rounding from failing a rate that is exactly the minimum.
  return { passed: reached >= atLeast - 1e-9, why: `${of} is ${formatRate(rate)}; ${needed}.` };
}

/** Formats the results of gates, one line each. */
export const formatGateResults = (results: readonly EvalGateResult[]): string =>
  results.map(({ passed, why }) => `${passed ? 'passed' : 'FAILED'}: ${why}\n`).join('');
