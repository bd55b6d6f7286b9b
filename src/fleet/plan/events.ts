// The events of a plan in the log of its run, and their fold: whatever happened to a plan can be read from the log alone.
import { isObject, type Json, type RunOutcome, type StopReason } from '../../core/index.ts';
import type { PlanEstimate } from './estimate.ts';
import type { PlanCaps } from './options.ts';
import type { PlanStep, StepLimits } from './plan.ts';

/** The status of a step. `replaced`: a later revision of the plan has other steps instead. */
export type StepStatus =
  | 'waiting'
  | 'under-way'
  | 'verifying'
  | 'done'
  | 'failed'
  | 'blocked'
  | 'cancelled'
  | 'replaced';

/** What a plan was started with; recorded once, so that every worker continues with the same. */
export type PlanStart = {
  readonly caps: PlanCaps;
  readonly attempts: number;
  readonly replans: number;
  readonly limits: StepLimits;
  readonly agents: readonly string[];
  /** The names of the tools; absent if they are not known in advance. */
  readonly tools?: readonly string[];
  /** The model that does the steps, if it is known. */
  readonly model?: string;
  /** The model that verifies results. */
  readonly verifier?: string;
};

/** What an attempt took. */
export type AttemptCost = { readonly usd: number; readonly tokens: number };

/** An event of a plan. */
export type PlanEvent =
  | ({ readonly type: 'plan-started' } & PlanStart)
  | { readonly type: 'plan-rejected'; readonly revision: number; readonly errors: readonly string[] }
  | {
      readonly type: 'plan-accepted';
      readonly revision: number;
      readonly steps: readonly PlanStep[];
      readonly estimate: PlanEstimate;
      /** Why the plan waits for consent. */
      readonly consent?: string;
    }
  | { readonly type: 'plan-approved'; readonly by?: string }
  | { readonly type: 'plan-refused'; readonly by?: string }
  | { readonly type: 'step-started'; readonly step: string; readonly attempt: number }
  | { readonly type: 'step-verifying'; readonly step: string; readonly attempt: number; readonly cost: AttemptCost }
  | { readonly type: 'step-done'; readonly step: string; readonly attempt: number; readonly cost: AttemptCost }
  | {
      readonly type: 'attempt-failed';
      readonly step: string;
      readonly attempt: number;
      readonly why: string;
      readonly cost: AttemptCost;
    }
  | {
      readonly type: 'step-failed';
      readonly step: string;
      readonly attempt: number;
      readonly why: string;
      /** A new plan could not help: a budget is used up. */
      readonly isFinal?: true;
      readonly cost: AttemptCost;
    }
  | { readonly type: 'step-blocked'; readonly step: string; readonly by: string }
  | { readonly type: 'step-cancelled'; readonly step: string; readonly by?: string; readonly why: string }
  | { readonly type: 'step-steered'; readonly step: string; readonly text: string; readonly by?: string }
  /** A message of the inbox was read up to this position. */
  | { readonly type: 'inbox-read'; readonly position: number }
  | { readonly type: 'replan-started'; readonly revision: number; readonly failed: readonly string[] }
  | { readonly type: 'replan-given-up'; readonly revision: number }
  | { readonly type: 'answer-started' }
  | {
      readonly type: 'plan-ended';
      readonly reason: StopReason;
      readonly detail?: string;
      readonly unsuccessful: readonly string[];
    };

/** A step and what happened to it. */
export type StepRecord = PlanStep & {
  readonly revision: number;
  readonly status: StepStatus;
  /** The number of the current or last attempt; 0 if none was started. */
  readonly attempt: number;
  /** Why it failed, was blocked or was cancelled, or why the last attempt failed. */
  readonly why?: string;
  readonly isFinal?: true;
  /** Messages of the user to the step. */
  readonly messages: readonly string[];
  readonly cost: AttemptCost;
};

/** The stage of a plan. */
export type PlanStage = 'planning' | 'proposed' | 'running' | 'answering' | 'ended';

/** The state of a plan: the fold of its events. */
export type PlanState = {
  readonly start?: PlanStart;
  readonly stage: PlanStage;
  /** The revision that is planned or executed; 1 is the first plan. */
  readonly revision: number;
  /** The errors of each rejected plan of this revision. */
  readonly rejected: readonly (readonly string[])[];
  readonly estimate?: PlanEstimate;
  /** Why the plan waits for consent. */
  readonly consent?: string;
  /** The user has consented to the plan: later revisions stay within its caps and do not wait again. */
  readonly isApproved?: true;
  readonly isRefused?: true;
  /** No new plan was found for what failed. */
  readonly gaveUp?: true;
  readonly steps: ReadonlyMap<string, StepRecord>;
  /** How the plan ended. */
  readonly end?: Pick<RunOutcome, 'reason' | 'detail'>;
  /** The inbox position that was read. */
  readonly position: number;
};

/** The state before the first event. */
export const initialPlanState: PlanState = {
  stage: 'planning',
  revision: 1,
  rejected: [],
  steps: new Map(),
  position: 0,
};

const noCost: AttemptCost = { usd: 0, tokens: 0 };

/** Adds an event to the state of a plan. */
export function foldPlanEvent(state: PlanState, event: PlanEvent): PlanState {
  switch (event.type) {
    case 'plan-started': {
      const { type: _, ...start } = event;
      return { ...state, start };
    }
    case 'plan-rejected':
      return { ...state, rejected: [...state.rejected, event.errors] };
    case 'plan-accepted':
      return acceptPlan(state, event);
    case 'plan-approved': {
      const { consent: _, ...rest } = state;
      return { ...rest, stage: 'running', isApproved: true };
    }
    case 'plan-refused':
      return state.revision === 1 ? { ...state, isRefused: true } : refuseRevision(state);
    case 'step-started':
      return changeStep(state, event.step, () => ({ status: 'under-way', attempt: event.attempt }));
    case 'step-verifying':
      return changeStep(state, event.step, ({ cost }) => ({ status: 'verifying', cost: addCost(cost, event.cost) }));
    case 'step-done':
      return changeStep(state, event.step, ({ cost }) => ({ status: 'done', cost: addCost(cost, event.cost) }));
    case 'attempt-failed':
      return changeStep(state, event.step, ({ cost }) => ({
        status: 'waiting',
        why: event.why,
        cost: addCost(cost, event.cost),
      }));
    case 'step-failed':
      return changeStep(state, event.step, ({ cost }) => ({
        status: 'failed',
        why: event.why,
        cost: addCost(cost, event.cost),
        ...(event.isFinal ? { isFinal: true } : {}),
      }));
    case 'step-blocked':
      return changeStep(state, event.step, () => ({ status: 'blocked', why: `${event.by} did not succeed` }));
    case 'step-cancelled':
      return changeStep(state, event.step, () => ({ status: 'cancelled', why: event.why }));
    case 'step-steered':
      return changeStep(state, event.step, ({ messages }) => ({ messages: [...messages, event.text] }));
    case 'inbox-read':
      return { ...state, position: Math.max(state.position, event.position) };
    case 'replan-started':
      return { ...state, stage: 'planning', revision: event.revision, rejected: [] };
    case 'replan-given-up':
      return { ...state, stage: 'running', gaveUp: true };
    case 'answer-started':
      return { ...state, stage: 'answering' };
    case 'plan-ended':
      return { ...state, stage: 'ended', end: getEnd(event) };
  }
}

const getEnd = ({ reason, detail }: PlanEvent & { readonly type: 'plan-ended' }): NonNullable<PlanState['end']> => ({
  reason,
  ...(detail === undefined ? {} : { detail }),
});

type StepChange = Partial<Pick<StepRecord, 'status' | 'attempt' | 'why' | 'isFinal' | 'messages' | 'cost'>>;

function changeStep(state: PlanState, id: string, change: (step: StepRecord) => StepChange): PlanState {
  const step = state.steps.get(id);
  if (!step) return state;
  return { ...state, steps: new Map(state.steps).set(id, { ...step, ...change(step) }) };
}

/** The steps of a later revision replace all steps that are not done. */
function acceptPlan(
  state: PlanState,
  { revision, steps, estimate, consent }: PlanEvent & { readonly type: 'plan-accepted' },
): PlanState {
  const earlier = [...state.steps].map(([id, step]): [string, StepRecord] => [
    id,
    step.status === 'done' ? step : { ...step, status: 'replaced' },
  ]);
  const added = steps.map((step): [string, StepRecord] => [
    step.id,
    { ...step, revision, status: 'waiting', attempt: 0, messages: [], cost: noCost },
  ]);
  return {
    ...state,
    revision,
    // The question about a later revision names the estimate of its steps.
    estimate: revision === 1 || consent !== undefined ? estimate : (state.estimate ?? estimate),
    stage: consent === undefined ? 'running' : 'proposed',
    steps: new Map([...earlier, ...added]),
    ...(consent === undefined ? {} : { consent }),
  };
}

/** Without its later revision a plan ends with what is done. */
function refuseRevision({ consent: _, ...state }: PlanState): PlanState {
  const steps = [...state.steps].map(([id, step]): [string, StepRecord] => [
    id,
    step.status === 'waiting' ? { ...step, status: 'cancelled', why: 'the new plan was not approved' } : step,
  ]);
  return { ...state, stage: 'running', gaveUp: true, steps: new Map(steps) };
}

const addCost = (a: AttemptCost, b: AttemptCost): AttemptCost => ({ usd: a.usd + b.usd, tokens: a.tokens + b.tokens });

/** Returns the events of a run in a recorded value; a log can contain the plans of several runs. */
export const getRecordedEvents = (value: Json | undefined, run: string): readonly PlanEvent[] =>
  isObject(value) && value['run'] === run && Array.isArray(value['events']) ? value['events'] : [];

/** Folds recorded values to the state of the plan of a run. */
export const foldPlan = (recorded: readonly Json[], run: string): PlanState =>
  recorded.flatMap((value) => getRecordedEvents(value, run)).reduce(foldPlanEvent, initialPlanState);

/** Whether a step ended without success. */
export const isUnsuccessful = ({ status }: Pick<StepRecord, 'status'>): boolean =>
  status === 'failed' || status === 'blocked' || status === 'cancelled';

/** Whether a step is being done or verified. */
export const isActive = ({ status }: Pick<StepRecord, 'status'>): boolean =>
  status === 'under-way' || status === 'verifying';
