// One round of a plan: the state from its log, what this round adds to it, and the results of its child runs.
import type { FleetRun, Json } from '../../core/index.ts';
import type { ChildMessage } from '../orchestrator.ts';
import {
  foldPlan,
  foldPlanEvent,
  type AttemptCost,
  type PlanEvent,
  type PlanState,
  type StepRecord,
} from './events.ts';

/** The child runs of a plan by name. */
export type Children = ReadonlyMap<string, FleetRun>;

/** Whether a run ended with an answer. */
export const isSuccessful = ({ outcome }: FleetRun): boolean =>
  outcome?.reason === 'answered' || outcome?.reason === 'task-complete';

/** The name of the child run of an attempt at a step. */
export const getStepRunName = ({ id, attempt }: Pick<StepRecord, 'id' | 'attempt'>): string => `step-${id}-${attempt}`;

/** The name of the child run that verifies an attempt. */
export const getVerifyRunName = ({ id, attempt }: Pick<StepRecord, 'id' | 'attempt'>): string =>
  `verify-${id}-${attempt}`;

/** Returns what a run took. */
export const getCost = ({ outcome }: FleetRun): AttemptCost => {
  const { usd = 0, input = 0, output = 0 } = outcome?.spent ?? {};
  return { usd, tokens: input + output };
};

/** One round of a plan. */
export class PlanRound {
  readonly run: FleetRun;
  readonly children: Children;
  /** The events of this round. */
  readonly events: PlanEvent[] = [];
  /** Messages for child runs. */
  readonly sends: ChildMessage[] = [];
  state: PlanState;

  constructor(run: FleetRun, children: Children, recorded: readonly Json[]) {
    this.run = run;
    this.children = children;
    this.state = foldPlan(recorded, run.id);
  }

  /** Adds an event. */
  emit(event: PlanEvent): void {
    this.events.push(event);
    this.state = foldPlanEvent(this.state, event);
  }

  /** The results of the steps that are done. */
  texts(): ReadonlyMap<string, string> {
    const done = [...this.state.steps.values()].filter(({ status }) => status === 'done');
    return new Map(done.map((step) => [step.id, this.children.get(getStepRunName(step))?.outcome?.text ?? '']));
  }

  /** The money and tokens that all child runs took. */
  spent(): AttemptCost {
    const costs = [...this.children.values()].map(getCost);
    return costs.reduce((sum, each) => ({ usd: sum.usd + each.usd, tokens: sum.tokens + each.tokens }), {
      usd: 0,
      tokens: 0,
    });
  }

  /** The names of active child runs of steps that were cancelled. */
  listCancelled(): readonly string[] {
    return [...this.state.steps.values()]
      .filter(({ status, attempt }) => status === 'cancelled' && attempt > 0)
      .flatMap((step) => [getStepRunName(step), getVerifyRunName(step)])
      .filter((name) => (this.children.get(name)?.status ?? 'ended') !== 'ended');
  }
}
