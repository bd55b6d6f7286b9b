// Orchestrates a plan: a model writes it, its steps run in parallel as far as their dependencies allow, and one answer combines their results.
import { parseAnswer } from '../../agent/index.ts';
import { errorMessage, wrapUntrusted, type FleetRun, type JsonObject, type RunOutcome } from '../../core/index.ts';
import type { ChildRun, Orchestration, OrchestrationStep } from '../orchestrator.ts';
import { maxPlanSteps, planSchema, parsePlan, type PlanStep } from './plan.ts';

/** How often a plan is requested, and a step is run, before it has failed. */
const maxAttempts = 2;

/** The status of a step. */
export type StepStatus = 'waiting' | 'under-way' | 'done' | 'failed' | 'blocked';

type Children = ReadonlyMap<string, FleetRun>;

/** Decides the next step of a run of kind `plan`. */
export const planOrchestration: Orchestration = (run, children) => {
  const plan = getPlanState(children);
  if (plan.type === 'missing') return { type: 'go-on', start: [createPlanRun(run, plan.attempt, plan.error)] };
  if (plan.type === 'pending') return { type: 'go-on', start: [] };
  if (plan.type === 'failed') return createEndStep('error-threshold', `Could not create a plan: ${plan.error}`);
  return loadWordsOf(run).then((formatWords) => advancePlan(run, plan.steps, children, formatWords));
};

type FormatWords = (step: PlanStep) => string;

/** What the model wrote as a step counts as words of the user only if it read nothing else: a task with files or other texts of third parties can decide what the steps say. */
async function loadWordsOf({ prompt }: FleetRun): Promise<FormatWords> {
  const { splitTyped } = await import('../../guards/flow/index.ts');
  const { typed, hasUntrusted } = splitTyped(prompt);
  if (!hasUntrusted) return ({ words }) => words;
  return ({ id, words }) =>
    [
      `The whole task:\n${typed}`,
      'Your part of it follows; a model wrote it after it read text of third parties.',
      wrapUntrusted(`step ${id} of the plan`, words),
    ].join('\n\n');
}

const createEndStep = (reason: RunOutcome['reason'], detail: string): OrchestrationStep => ({
  type: 'end',
  outcome: { reason, detail, text: '' },
});

type PlanState =
  | { readonly type: 'missing'; readonly attempt: number; readonly error?: string }
  | { readonly type: 'pending' }
  | { readonly type: 'failed'; readonly error: string }
  | { readonly type: 'ready'; readonly steps: readonly PlanStep[] };

/** Returns the plan that the planning child runs wrote, or what is next to get one. */
function getPlanState(children: Children): PlanState {
  let error: string | undefined;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const planRun = children.get(`plan-${attempt}`);
    if (!planRun) return { type: 'missing', attempt, ...(error === undefined ? {} : { error }) };
    if (planRun.status !== 'ended') return { type: 'pending' };
    const parsed = isSuccessful(planRun)
      ? parsePlanOutcome(planRun)
      : (planRun.outcome?.detail ?? 'the model returned no plan.');
    if (typeof parsed !== 'string') return { type: 'ready', steps: parsed };
    error = parsed;
  }
  return { type: 'failed', error: error ?? '' };
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

function advancePlan(
  run: FleetRun,
  steps: readonly PlanStep[],
  children: Children,
  formatWords: FormatWords,
): OrchestrationStep {
  const states = getStepStates(steps, children);
  const progress = { steps: steps.map((step) => ({ ...step, status: states.get(step.id)?.type ?? 'waiting' })) };
  const ready = steps.flatMap((step): readonly ChildRun[] => {
    const state = states.get(step.id);
    if (state?.type !== 'waiting' || !step.after.every((each) => states.get(each)?.type === 'done')) return [];
    const prompt = formatStepPrompt(formatWords(step), step, states);
    return [
      { name: `step-${step.id}-${state.attempt}`, prompt, ...(step.verify ? { settings: { verify: true } } : {}) },
    ];
  });
  if (ready.length > 0) return { type: 'go-on', start: ready, progress };
  if ([...states.values()].some(({ type }) => type === 'under-way')) return { type: 'go-on', start: [], progress };
  if (![...states.values()].some(({ type }) => type === 'done'))
    return { ...createEndStep('error-threshold', 'No step of the plan succeeded.'), progress };
  const answer = children.get('answer');
  if (!answer)
    return {
      type: 'go-on',
      start: [{ name: 'answer', prompt: formatAnswerPrompt(run, steps, states) }],
      progress,
    };
  if (answer.status !== 'ended' || !answer.outcome) return { type: 'go-on', start: [], progress };
  return { type: 'end', outcome: answer.outcome, progress };
}

type StepState = {
  readonly type: StepStatus;
  readonly attempt: number;
  readonly text?: string;
  readonly why?: string;
};

/** Returns the state of each step in order of dependency; steps that depend on a failed one are blocked. */
function getStepStates(steps: readonly PlanStep[], children: Children): ReadonlyMap<string, StepState> {
  const states = new Map<string, StepState>();
  while (states.size < steps.length) {
    for (const step of steps) {
      if (states.has(step.id) || !step.after.every((each) => states.has(each))) continue;
      const failed = step.after.find((each) => ['failed', 'blocked'].includes(states.get(each)?.type ?? ''));
      states.set(
        step.id,
        failed === undefined
          ? getStepState(step, children)
          : { type: 'blocked', attempt: 0, why: `${failed} did not succeed` },
      );
    }
  }
  return states;
}

function getStepState({ id }: PlanStep, children: Children): StepState {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const run = children.get(`step-${id}-${attempt}`);
    if (!run) return { type: 'waiting', attempt };
    if (run.status !== 'ended') return { type: 'under-way', attempt };
    if (isSuccessful(run)) return { type: 'done', attempt, text: run.outcome?.text ?? '' };
    // A cancelled run, or one that used up its budget, is not tried again.
    const final = ['cancelled', 'kill-switch', 'money-budget', 'token-budget'].includes(run.outcome?.reason ?? '');
    if (final || attempt === maxAttempts)
      return { type: 'failed', attempt, why: run.outcome?.detail ?? run.outcome?.reason ?? '' };
  }
  return { type: 'failed', attempt: maxAttempts };
}

/** A plan states nothing that could be verified. */
const planSettings: JsonObject = { tools: false, verify: null };

const createPlanRun = (run: FleetRun, attempt: number, error: string | undefined): ChildRun => ({
  name: `plan-${attempt}`,
  prompt: [
    'Make a plan for the task below: the fewest steps that are worth it, at most ' +
      `${maxPlanSteps}; one step if it needs no more.`,
    'Each step is done by another agent that sees only the text of the step and the results of the steps it depends on. Steps that do not depend on each other run at the same time. Set verify for a step whose result is facts that later steps rely on.',
    ...(error === undefined ? [] : [`The previous plan was not valid: ${error}`]),
    `The task:\n${run.prompt}`,
  ].join('\n\n'),
  settings: { ...planSettings, answer: planSchema },
});

/** The prompt of a step. The results of other steps are untrusted text. */
const formatStepPrompt = (words: string, { after }: PlanStep, states: ReadonlyMap<string, StepState>): string =>
  [words, ...after.map((id) => wrapUntrusted(`the result of step ${id}`, states.get(id)?.text ?? ''))].join('\n\n');

function formatAnswerPrompt(
  { prompt }: FleetRun,
  steps: readonly PlanStep[],
  states: ReadonlyMap<string, StepState>,
): string {
  const results = steps.map(({ id, words: step }) => {
    const { type, text = '', why = '' } = states.get(id) ?? { type: 'waiting' };
    return type === 'done'
      ? wrapUntrusted(`step ${id}: ${step}`, text)
      : wrapUntrusted(`step ${id}: ${step}`, `It did not succeed: ${why}`);
  });
  return [
    'Answer the task below from the results of the steps of a plan. If a step did not succeed, say what is missing; do not invent anything.',
    `The task:\n${prompt}`,
    ...results,
  ].join('\n\n');
}
