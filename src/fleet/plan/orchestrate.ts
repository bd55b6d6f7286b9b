// How a plan is carried out: made by a model, its steps side by side as far as they can be, and one answer from what they brought.
import { parseAnswer } from '../../agent/index.ts';
import { errorMessage, wrapUntrusted, type FleetRun, type JsonObject, type RunOutcome } from '../../core/index.ts';
import type { ChildRun, Orchestration, OrchestrationStep } from '../orchestrator.ts';
import { maxPlanSteps, planSchema, parsePlan, type PlanStep } from './plan.ts';

/** How often a plan is asked for, and a step is tried, before it is given up. */
const maxAttempts = 2;

/** Where a step stands. */
export type StepStatus = 'waiting' | 'under-way' | 'done' | 'failed' | 'blocked';

type Children = ReadonlyMap<string, FleetRun>;

/** Decides what is next for a run of the kind `plan`. */
export const planOrchestration: Orchestration = (run, children) => {
  const made = getPlanState(children);
  if (made.type === 'ask') return { type: 'go-on', start: [createPlanRun(run, made.attempt, made.wrong)] };
  if (made.type === 'wait') return { type: 'go-on', start: [] };
  if (made.type === 'failed') return createEndStep('error-threshold', `No plan could be made: ${made.why}`);
  return advancePlan(run, made.steps, children);
};

const createEndStep = (reason: RunOutcome['reason'], detail: string): OrchestrationStep => ({
  type: 'end',
  outcome: { reason, detail, text: '' },
});

type PlanState =
  | { readonly type: 'ask'; readonly attempt: number; readonly wrong?: string }
  | { readonly type: 'wait' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'made'; readonly steps: readonly PlanStep[] };

/** The plan that the children before the steps came to. */
function getPlanState(children: Children): PlanState {
  let wrong: string | undefined;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const asked = children.get(`plan-${attempt}`);
    if (!asked) return { type: 'ask', attempt, ...(wrong === undefined ? {} : { wrong }) };
    if (asked.status !== 'ended') return { type: 'wait' };
    const read = isSuccessful(asked) ? parsePlanOutcome(asked) : (asked.outcome?.detail ?? 'the model gave no answer.');
    if (typeof read !== 'string') return { type: 'made', steps: read };
    wrong = read;
  }
  return { type: 'failed', why: wrong ?? '' };
}

function parsePlanOutcome({ outcome }: FleetRun): readonly PlanStep[] | string {
  try {
    return parsePlan(parseAnswer(outcome?.text ?? ''));
  } catch (error) {
    return errorMessage(error);
  }
}

const isSuccessful = ({ outcome }: FleetRun): boolean =>
  outcome?.reason === 'answered' || outcome?.reason === 'task-complete';

function advancePlan(run: FleetRun, steps: readonly PlanStep[], children: Children): OrchestrationStep {
  const standing = getStepStates(steps, children);
  const about = { steps: steps.map((step) => ({ ...step, standing: standing.get(step.id)?.type ?? 'waiting' })) };
  const ready = steps.flatMap((step): readonly ChildRun[] => {
    const now = standing.get(step.id);
    if (now?.type !== 'waiting' || !step.after.every((each) => standing.get(each)?.type === 'done')) return [];
    return [{ name: `step-${step.id}-${now.attempt}`, prompt: formatStepPrompt(step, standing) }];
  });
  if (ready.length > 0) return { type: 'go-on', start: ready, progress: about };
  if ([...standing.values()].some(({ type }) => type === 'under-way'))
    return { type: 'go-on', start: [], progress: about };
  if (![...standing.values()].some(({ type }) => type === 'done'))
    return { ...createEndStep('error-threshold', 'No step of the plan could be done.'), progress: about };
  const answer = children.get('answer');
  if (!answer)
    return {
      type: 'go-on',
      start: [{ name: 'answer', prompt: formatAnswerPrompt(run, steps, standing) }],
      progress: about,
    };
  if (answer.status !== 'ended' || !answer.outcome) return { type: 'go-on', start: [], progress: about };
  return { type: 'end', outcome: answer.outcome, progress: about };
}

type StepState = {
  readonly type: StepStatus;
  readonly attempt: number;
  readonly text?: string;
  readonly why?: string;
};

/** Where each step stands, in the order in which they can be done: what a failed one leads to is blocked. */
function getStepStates(steps: readonly PlanStep[], children: Children): ReadonlyMap<string, StepState> {
  const found = new Map<string, StepState>();
  while (found.size < steps.length) {
    for (const step of steps) {
      if (found.has(step.id) || !step.after.every((each) => found.has(each))) continue;
      const failed = step.after.find((each) => ['failed', 'blocked'].includes(found.get(each)?.type ?? ''));
      found.set(
        step.id,
        failed === undefined
          ? getStepState(step, children)
          : { type: 'blocked', attempt: 0, why: `${failed} was not done` },
      );
    }
  }
  return found;
}

function getStepState({ id }: PlanStep, children: Children): StepState {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const run = children.get(`step-${id}-${attempt}`);
    if (!run) return { type: 'waiting', attempt };
    if (run.status !== 'ended') return { type: 'under-way', attempt };
    if (isSuccessful(run)) return { type: 'done', attempt, text: run.outcome?.text ?? '' };
    // A person who said stop, or a budget that is used up, is not asked again.
    const final = ['cancelled', 'kill-switch', 'money-budget', 'token-budget'].includes(run.outcome?.reason ?? '');
    if (final || attempt === maxAttempts)
      return { type: 'failed', attempt, why: run.outcome?.detail ?? run.outcome?.reason ?? '' };
  }
  return { type: 'failed', attempt: maxAttempts };
}

const withoutTools: JsonObject = { tools: false };

const createPlanRun = (run: FleetRun, attempt: number, wrong: string | undefined): ChildRun => ({
  name: `plan-${attempt}`,
  prompt: [
    'Make a plan for the task below: the fewest steps that are worth it, at most ' +
      `${maxPlanSteps}; one step if it needs no more.`,
    'Each step is done by another agent that sees its own words only, and the results of the steps it comes after. Steps that do not need each other are done at the same time.',
    ...(wrong === undefined ? [] : [`The plan before this one could not be used: ${wrong}`]),
    `The task:\n${run.prompt}`,
  ].join('\n\n'),
  settings: { ...withoutTools, answer: planSchema },
});

/** What a step's agent reads. What other steps brought is outside text: their words may come from anywhere. */
const formatStepPrompt = ({ words, after }: PlanStep, standing: ReadonlyMap<string, StepState>): string =>
  [words, ...after.map((id) => wrapUntrusted(`the result of step ${id}`, standing.get(id)?.text ?? ''))].join('\n\n');

function formatAnswerPrompt(
  { prompt: words }: FleetRun,
  steps: readonly PlanStep[],
  standing: ReadonlyMap<string, StepState>,
): string {
  const brought = steps.map(({ id, words: step }) => {
    const { type, text = '', why = '' } = standing.get(id) ?? { type: 'waiting' };
    return type === 'done' ? wrapUntrusted(`step ${id}: ${step}`, text) : `Step ${id} (${step}) was not done: ${why}.`;
  });
  return [
    'Answer the task below from what the steps of a plan brought. Say what is missing where a step was not done; make nothing up.',
    `The task:\n${words}`,
    ...brought,
  ].join('\n\n');
}
