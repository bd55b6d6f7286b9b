// Reads a plan with the state of its steps from the log of its run, for views.
import type { FleetRun, FleetStore } from '../../core/index.ts';
import { readRecorded } from '../orchestrator.ts';
import type { PlanEstimate } from './estimate.ts';
import {
  foldPlan,
  type AttemptCost,
  type PlanStage,
  type PlanStart,
  type PlanState,
  type StepRecord,
} from './events.ts';
import { getDepths } from './graph.ts';
import { getStepRunName, getVerifyRunName } from './round.ts';

/** A step of a plan as views show it. */
export type PlanStepView = Omit<StepRecord, 'isFinal' | 'messages'> & {
  /** One more than the depth of the deepest step it needs; 1 without any. */
  readonly depth: number;
  /** The child run of the current or last attempt. */
  readonly run?: string;
  /** The child run that verifies it. */
  readonly verifyRun?: string;
};

/** A plan with the state of its steps. */
export type PlanView = {
  readonly run: string;
  readonly stage: PlanStage;
  readonly revision: number;
  /** What the plan was started with: caps, limits, models; absent until a worker has started it. */
  readonly start?: PlanStart;
  readonly estimate?: PlanEstimate;
  /** Why the plan waits for consent. */
  readonly consent?: string;
  /** The errors of each rejected plan of this revision. */
  readonly rejected: readonly (readonly string[])[];
  readonly steps: readonly PlanStepView[];
  /** What the steps took so far. */
  readonly cost: AttemptCost;
};

/** Reads the plan of a run. */
export async function readPlan(
  { sessions }: { readonly sessions: Pick<FleetStore['sessions'], 'find' | 'reader'> },
  run: Pick<FleetRun, 'id' | 'session' | 'kind'>,
): Promise<PlanView> {
  return toPlanView(run.id, foldPlan(await readRecorded(sessions, run), run.id));
}

/** The view of a state. */
function toPlanView(run: string, state: PlanState): PlanView {
  const { stage, revision, start, estimate, consent, rejected, steps } = state;
  const records = [...steps.values()];
  const depths = getDepths(records);
  return {
    run,
    stage,
    revision,
    ...(start ? { start } : {}),
    ...(estimate ? { estimate } : {}),
    ...(consent === undefined ? {} : { consent }),
    rejected,
    steps: records.map(({ isFinal: _, messages: __, ...step }) => ({
      ...step,
      depth: depths.get(step.id) ?? 1,
      ...(step.attempt > 0 ? { run: `${run}/${getStepRunName(step)}` } : {}),
      ...(step.status === 'verifying' ? { verifyRun: `${run}/${getVerifyRunName(step)}` } : {}),
    })),
    cost: records.reduce((sum, { cost }) => ({ usd: sum.usd + cost.usd, tokens: sum.tokens + cost.tokens }), {
      usd: 0,
      tokens: 0,
    }),
  };
}
