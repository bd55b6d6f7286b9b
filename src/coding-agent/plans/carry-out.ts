// Carries out an approved plan: one run for each step, and an event for each change of a step.
import { toJson, type Json } from '../../core/index.ts';
import type { Plan } from './plan-file.ts';
import { planProgressKey, type PlanProgress, type PlanStep } from './plan-steps.ts';

/** How a run of a step ended: its answer, or why there is none. */
export type StepEnd = { readonly answer: string } | { readonly problem: string; readonly isCancelled?: boolean };

/** What the program that carries out a plan provides. */
export type PlanHost = {
  /** Records an annotation in the session. */
  readonly annotate: (key: string, value: Json) => Promise<unknown>;
  /** Runs the model with a text of the program about the step, and a prompt. */
  readonly runStep: (note: string, prompt: string) => Promise<StepEnd>;
  /** Reads the plan again: a step of a file that was changed is not carried out. */
  readonly readPlan: () => Plan;
  /** Decides about a step; without it, the approval is for the whole plan. */
  readonly approveStep?: (step: string, number: number) => Promise<'run' | 'skip' | 'stop'>;
  /** Called with each change. */
  readonly onProgress?: (progress: PlanProgress) => void;
};

/** Why carrying out ended. */
export type PlanEnd = 'done' | 'failed' | 'stopped' | 'changed';

/** The first line of an answer that reports a step as failed. */
const failurePattern = /^\W*step failed\b\W*(.*)$/im;

/** Carries out the steps that are not done. It ends at a step that failed, at a stop of the user, and if the file has another text than the approved one. `earlier` is the progress of the same text before. */
export async function carryOutPlan(
  plan: Plan,
  earlier: PlanProgress | undefined,
  host: PlanHost,
): Promise<{ readonly end: PlanEnd; readonly progress: PlanProgress }> {
  const known = earlier?.hash === plan.hash ? earlier.steps : [];
  const steps: PlanStep[] = plan.steps.map((text, at) => {
    const before = known[at];
    return before?.state === 'done' || before?.state === 'skipped' ? before : { text, state: 'pending' };
  });
  const getProgress = (): PlanProgress => ({ name: plan.name, file: plan.file, hash: plan.hash, steps: [...steps] });
  const change = async (at: number, step: PlanStep): Promise<void> => {
    steps[at] = step;
    await host.annotate(planProgressKey, toJson(getProgress()));
    host.onProgress?.(getProgress());
  };
  await host.annotate(planProgressKey, toJson(getProgress()));
  for (const [at, { text, state }] of steps.entries()) {
    if (state !== 'pending') continue;
    if (host.readPlan().hash !== plan.hash) return { end: 'changed', progress: getProgress() };
    const decision = (await host.approveStep?.(text, at + 1)) ?? 'run';
    if (decision === 'stop') return { end: 'stopped', progress: getProgress() };
    if (decision === 'skip') {
      await change(at, { text, state: 'skipped' });
      continue;
    }
    await change(at, { text, state: 'active' });
    const note = `The user approved the plan ${plan.name}. Step ${at + 1} of ${steps.length}: ${text}\nCarry out this step and no other one. If it cannot be done, begin your answer with "Step failed:" and the reason.`;
    const ended = await host.runStep(note, `Carry out step ${at + 1} of the plan.`);
    if ('problem' in ended) {
      await change(
        at,
        ended.isCancelled ? { text, state: 'pending' } : { text, state: 'failed', reason: ended.problem },
      );
      return { end: ended.isCancelled ? 'stopped' : 'failed', progress: getProgress() };
    }
    const failure = failurePattern.exec(ended.answer.trimStart().split('\n', 1)[0] ?? '');
    await change(
      at,
      failure ? { text, state: 'failed', reason: failure[1] || 'no reason was given' } : { text, state: 'done' },
    );
    if (failure) return { end: 'failed', progress: getProgress() };
  }
  return { end: 'done', progress: getProgress() };
}
