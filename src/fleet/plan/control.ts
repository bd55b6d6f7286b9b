// Controls a plan from any process: consent to it, and the cancellation and steering of one step. Each is a message to its run.
import { FairleadError, type FleetRun, type FleetStore, type InboxMessage } from '../../core/index.ts';
import { sendMessage } from '../inbox.ts';
import { consentCall } from './consent.ts';
import { isUnsuccessful } from './events.ts';
import { readPlan, type PlanStepView } from './read-plan.ts';

/** The parts of a store that control a plan. */
export type PlanControlStore = {
  readonly inbox: Pick<FleetStore['inbox'], 'send' | 'read' | 'clear'>;
  readonly queue: Pick<FleetStore['queue'], 'list' | 'wake'>;
  readonly sessions: Pick<FleetStore['sessions'], 'find' | 'reader'>;
};

/** Consents to a plan that waits for it, or refuses it. */
export async function answerPlan(store: PlanControlStore, run: FleetRun, allowed: boolean, by?: string): Promise<void> {
  assertPlan(run);
  const { stage } = await readPlan(store, run);
  if (stage !== 'proposed')
    throw new FairleadError('fleet/no-consent', `The plan ${run.id} does not wait for consent.`, { blame: 'user' });
  await send(store, run, { type: 'answer', run: run.id, call: consentCall, allowed, ...from(by) });
}

/** Cancels one step of a plan. Steps that depend on it are blocked; the others go on. */
export async function cancelStep(store: PlanControlStore, run: FleetRun, step: string, by?: string): Promise<void> {
  await requireOpenStep(store, run, step);
  await send(store, run, { type: 'cancel', run: run.id, step, ...from(by) });
}

/** Sends a message to one step of a plan: its active attempt reads it after the running tools, or its next attempt with the prompt. */
export async function steerStep(
  store: PlanControlStore,
  run: FleetRun,
  step: string,
  text: string,
  by?: string,
): Promise<void> {
  await requireOpenStep(store, run, step);
  await send(store, run, { type: 'steer', run: run.id, step, text, ...from(by) });
}

const from = (by: string | undefined): { readonly by?: string } => (by === undefined ? {} : { by });

async function send(store: PlanControlStore, run: FleetRun, message: InboxMessage): Promise<void> {
  if (await sendMessage(store, run.session, message)) return;
  throw new FairleadError('fleet/ended', `The plan ${run.id} has already ended.`, { blame: 'user' });
}

function assertPlan(run: FleetRun): void {
  if (run.kind === 'plan') return;
  throw new FairleadError('fleet/no-plan', `${run.id} is not a plan.`, { blame: 'user' });
}

/** Returns a step that can still change; throws if there is none. */
async function requireOpenStep(store: PlanControlStore, run: FleetRun, id: string): Promise<PlanStepView> {
  assertPlan(run);
  const { steps } = await readPlan(store, run);
  const step = steps.find((each) => each.id === id);
  if (!step)
    throw new FairleadError('fleet/no-step', `The plan ${run.id} has no step ${id.slice(0, 100)}.`, {
      blame: 'user',
      hint: `Its steps are: ${steps.map((each) => each.id).join(', ') || 'not planned yet'}.`,
    });
  if (step.status === 'done' || step.status === 'replaced' || isUnsuccessful(step))
    throw new FairleadError('fleet/step-ended', `The step ${id} has already ended: it is ${step.status}.`, {
      blame: 'user',
    });
  return step;
}
