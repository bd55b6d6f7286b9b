// The prompts of the child runs of a plan. The results of steps, reasons of failures and verdicts are untrusted text.
import { wrapUntrusted, type FleetRun, type JsonObject } from '../../core/index.ts';
import type { PlanState, StepRecord } from './events.ts';
import type { PlanBounds } from './plan.ts';

/** The texts of the steps that are done, by id. */
export type StepTexts = ReadonlyMap<string, string>;

/** How the task of a step is written into prompts. */
export type FormatTask = (step: Pick<StepRecord, 'id' | 'task' | 'revision'>) => string;

/** What a model wrote as a step counts as words of the user only if it read nothing else: a task with files or other texts of third parties can decide what the steps say. */
export async function loadTaskFormat({ prompt }: FleetRun): Promise<FormatTask> {
  const { splitTyped } = await import('../../guards/flow/index.ts');
  const { typed, hasUntrusted } = splitTyped(prompt);
  return ({ id, task, revision }) =>
    // A later revision was written by a model that read the results of steps.
    !hasUntrusted && revision === 1
      ? task
      : [
          `The whole task:\n${typed}`,
          'Your part of it follows; a model wrote it after it read text of third parties.',
          wrapUntrusted(`step ${id} of the plan`, task),
        ].join('\n\n');
}

const planIntro = (maxSteps: number): string =>
  `Make a plan for the task below: the fewest steps that are worth it, at most ${maxSteps}; one step if it needs no more.`;

const planRules =
  'Each step is done by another agent that sees only the text of the step and the results of the steps it depends on. Steps that do not depend on each other run at the same time. Set verify for a step whose result is facts that later steps rely on.';

/** The prompt that asks for the first plan; `errors` are those of the previous answer. */
export const formatPlanPrompt = ({ prompt }: FleetRun, bounds: PlanBounds, errors: readonly string[]): string =>
  joinParts([
    planIntro(bounds.maxSteps),
    planRules,
    formatBounds(bounds),
    formatErrors(errors),
    `The task:\n${prompt}`,
  ]);

/** The prompt that asks for a new plan for what failed. */
export const formatReplanPrompt = (
  { prompt }: FleetRun,
  bounds: PlanBounds,
  errors: readonly string[],
  state: PlanState,
  texts: StepTexts,
): string =>
  joinParts([
    'Some steps of the plan for the task below failed. Make a plan for what is left: other steps that reach the goal another way, or no steps if nothing else can help.',
    `The steps that are done stay as they are; new steps may depend on them. At most ${bounds.maxSteps} new steps, with new ids.`,
    planRules,
    formatBounds(bounds),
    formatErrors(errors),
    `The task:\n${prompt}`,
    ...formatResults(
      [...state.steps.values()].filter(({ status }) => status !== 'replaced'),
      texts,
    ),
  ]);

function formatBounds({ tools, agents, maxDepth }: PlanBounds): string {
  return [
    `A chain of steps that depend on each other has at most ${maxDepth} steps.`,
    ...(tools !== undefined && tools.length > 0 ? [`The tools: ${tools.join(', ')}.`] : []),
    ...(agents.length > 0 ? [`The agents: ${agents.join(', ')}.`] : []),
  ].join('\n');
}

const formatErrors = (errors: readonly string[]): string =>
  errors.length === 0 ? '' : wrapUntrusted('the check of the previous plan, which was not valid', errors.join('\n'));

/** The prompt of a step. */
export const formatStepPrompt = (task: string, step: StepRecord, texts: StepTexts): string =>
  joinParts([
    task,
    ...step.messages.map((text) => `The user says about this step:\n${text}`),
    step.why === undefined
      ? ''
      : `An earlier attempt at this failed; do not repeat its mistake.\n${wrapUntrusted('why the earlier attempt failed', step.why)}`,
    ...step.after.map((id) => wrapUntrusted(`the result of step ${id}`, texts.get(id) ?? '')),
  ]);

/** The answer of a verifier. */
export const verdictSchema: JsonObject = {
  type: 'object',
  properties: {
    passed: { type: 'boolean', description: 'whether the result does what the task asks, without errors' },
    reason: { type: 'string', description: 'what is wrong with it, or why it is right; one or two sentences' },
  },
  required: ['passed', 'reason'],
  additionalProperties: false,
};

/** The prompt of a verifier. It sees the task and the result, not how the author worked. */
export const formatVerifyPrompt = (task: string, step: StepRecord, text: string, texts: StepTexts): string =>
  joinParts([
    'Verify the result of a task that another agent did. Look for errors, and for what is missing or not supported; pass it only if you find none that matters.',
    `The task:\n${task}`,
    ...step.after.map((id) => wrapUntrusted(`the result of step ${id}, which the task could use`, texts.get(id) ?? '')),
    wrapUntrusted('the result to verify', text),
  ]);

/** The prompt of the last run, which combines the results. */
export const formatAnswerPrompt = ({ prompt }: FleetRun, state: PlanState, texts: StepTexts): string =>
  joinParts([
    'Answer the task below from the results of the steps of a plan. If a step did not succeed, say what is missing; do not invent anything.',
    `The task:\n${prompt}`,
    ...formatResults(
      [...state.steps.values()].filter(({ status }) => status !== 'replaced'),
      texts,
    ),
  ]);

const formatResults = (steps: readonly StepRecord[], texts: StepTexts): readonly string[] =>
  steps.map(({ id, task, status, why = '' }) =>
    wrapUntrusted(`step ${id}: ${task}`, status === 'done' ? (texts.get(id) ?? '') : `It did not succeed: ${why}`),
  );

const joinParts = (parts: readonly string[]): string => parts.filter(Boolean).join('\n\n');
