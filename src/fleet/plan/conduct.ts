// How a plan is carried out: made by a model, its steps side by side as far as they can be, and one answer from what they brought.
import { parseAnswer } from '../../agent/index.ts';
import { errorMessage, wrapUntrusted, type FleetRun, type JsonObject, type RunOutcome } from '../../core/index.ts';
import type { ChildRun, Conduct, Course } from '../coordinator.ts';
import { mostSteps, planSchema, readPlan, type PlanStep } from './plan.ts';

/** How often a plan is asked for, and a step is tried, before it is given up. */
const tries = 2;

/** Where a step stands. */
export type StepStanding = 'waiting' | 'under-way' | 'done' | 'failed' | 'blocked';

type Children = ReadonlyMap<string, FleetRun>;

/** Decides what is next for a run of the kind `plan`. */
export const planConduct: Conduct = (run, children) => {
  const made = planIn(children);
  if (made.type === 'ask') return { type: 'go-on', begin: [planRun(run, made.attempt, made.wrong)] };
  if (made.type === 'wait') return { type: 'go-on', begin: [] };
  if (made.type === 'failed') return end('error-threshold', `No plan could be made: ${made.why}`);
  return carryOut(run, made.steps, children);
};

const end = (reason: RunOutcome['reason'], detail: string): Course => ({
  type: 'end',
  outcome: { reason, detail, text: '' },
});

type Made =
  | { readonly type: 'ask'; readonly attempt: number; readonly wrong?: string }
  | { readonly type: 'wait' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'made'; readonly steps: readonly PlanStep[] };

/** The plan that the children before the steps came to. */
function planIn(children: Children): Made {
  let wrong: string | undefined;
  for (let attempt = 1; attempt <= tries; attempt++) {
    const asked = children.get(`plan-${attempt}`);
    if (!asked) return { type: 'ask', attempt, ...(wrong === undefined ? {} : { wrong }) };
    if (asked.status !== 'ended') return { type: 'wait' };
    const read = isDone(asked) ? planOf(asked) : (asked.outcome?.detail ?? 'the model gave no answer.');
    if (typeof read !== 'string') return { type: 'made', steps: read };
    wrong = read;
  }
  return { type: 'failed', why: wrong ?? '' };
}

function planOf({ outcome }: FleetRun): readonly PlanStep[] | string {
  try {
    return readPlan(parseAnswer(outcome?.text ?? ''));
  } catch (error) {
    return errorMessage(error);
  }
}

const isDone = ({ outcome }: FleetRun): boolean =>
  outcome?.reason === 'answered' || outcome?.reason === 'task-complete';

function carryOut(run: FleetRun, steps: readonly PlanStep[], children: Children): Course {
  const standing = standingOf(steps, children);
  const about = { steps: steps.map((step) => ({ ...step, standing: standing.get(step.id)?.type ?? 'waiting' })) };
  const ready = steps.flatMap((step): readonly ChildRun[] => {
    const now = standing.get(step.id);
    if (now?.type !== 'waiting' || !step.after.every((each) => standing.get(each)?.type === 'done')) return [];
    return [{ name: `step-${step.id}-${now.attempt}`, words: stepWords(step, standing) }];
  });
  if (ready.length > 0) return { type: 'go-on', begin: ready, about };
  if ([...standing.values()].some(({ type }) => type === 'under-way')) return { type: 'go-on', begin: [], about };
  if (![...standing.values()].some(({ type }) => type === 'done'))
    return { ...end('error-threshold', 'No step of the plan could be done.'), about };
  const answer = children.get('answer');
  if (!answer) return { type: 'go-on', begin: [{ name: 'answer', words: answerWords(run, steps, standing) }], about };
  if (answer.status !== 'ended' || !answer.outcome) return { type: 'go-on', begin: [], about };
  return { type: 'end', outcome: answer.outcome, about };
}

type Standing = {
  readonly type: StepStanding;
  readonly attempt: number;
  readonly text?: string;
  readonly why?: string;
};

/** Where each step stands, in the order in which they can be done: what a failed one leads to is blocked. */
function standingOf(steps: readonly PlanStep[], children: Children): ReadonlyMap<string, Standing> {
  const found = new Map<string, Standing>();
  while (found.size < steps.length) {
    for (const step of steps) {
      if (found.has(step.id) || !step.after.every((each) => found.has(each))) continue;
      const failed = step.after.find((each) => ['failed', 'blocked'].includes(found.get(each)?.type ?? ''));
      found.set(
        step.id,
        failed === undefined ? tried(step, children) : { type: 'blocked', attempt: 0, why: `${failed} was not done` },
      );
    }
  }
  return found;
}

function tried({ id }: PlanStep, children: Children): Standing {
  for (let attempt = 1; attempt <= tries; attempt++) {
    const run = children.get(`step-${id}-${attempt}`);
    if (!run) return { type: 'waiting', attempt };
    if (run.status !== 'ended') return { type: 'under-way', attempt };
    if (isDone(run)) return { type: 'done', attempt, text: run.outcome?.text ?? '' };
    // A person who said stop, or a budget that is used up, is not asked again.
    const final = ['cancelled', 'kill-switch', 'money-budget', 'token-budget'].includes(run.outcome?.reason ?? '');
    if (final || attempt === tries)
      return { type: 'failed', attempt, why: run.outcome?.detail ?? run.outcome?.reason ?? '' };
  }
  return { type: 'failed', attempt: tries };
}

const withoutTools: JsonObject = { tools: false };

const planRun = (run: FleetRun, attempt: number, wrong: string | undefined): ChildRun => ({
  name: `plan-${attempt}`,
  words: [
    'Make a plan for the task below: the fewest steps that are worth it, at most ' +
      `${mostSteps}; one step if it needs no more.`,
    'Each step is done by another agent that sees its own words only, and the results of the steps it comes after. Steps that do not need each other are done at the same time.',
    ...(wrong === undefined ? [] : [`The plan before this one could not be used: ${wrong}`]),
    `The task:\n${run.words}`,
  ].join('\n\n'),
  settings: { ...withoutTools, answer: planSchema },
});

/** What a step's agent reads. What other steps brought is outside text: their words may come from anywhere. */
const stepWords = ({ words, after }: PlanStep, standing: ReadonlyMap<string, Standing>): string =>
  [words, ...after.map((id) => wrapUntrusted(`the result of step ${id}`, standing.get(id)?.text ?? ''))].join('\n\n');

function answerWords({ words }: FleetRun, steps: readonly PlanStep[], standing: ReadonlyMap<string, Standing>): string {
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
