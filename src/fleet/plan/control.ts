// Controls a plan from any process: consent to it, and the cancellation and steering of one step. Each is a message to its run.
import { FairleadError, type FleetRun, type FleetStore, type InboxMessage } from '../../core/index.ts';
import { sendMessage } from '../inbox.ts';
import { readRecorded } from '../orchestrator.ts';
import { consentCall, formatConsentQuestion } from './consent.ts';
import { foldPlan, isUnsuccessful, type PlanState, type StepRecord } from './events.ts';

/** The parts of a store that control a plan. */
export type PlanControlStore = {
  readonly inbox: Pick<FleetStore['inbox'], 'send' | 'read' | 'clear'>;
  readonly queue: Pick<FleetStore['queue'], 'list' | 'wake'>;
  readonly sessions: Pick<FleetStore['sessions'], 'find' | 'reader'>;
};

/** Consents to a plan that waits for it, or refuses it. */
export async function answerPlan(store: PlanControlStore, run: FleetRun, allowed: boolean, by?: string): Promise<void> {
  assertPlan(run);
  const state = await readState(store, run);
  if (state.stage !== 'proposed')
    throw new FairleadError('fleet/no-consent', `The plan ${run.id} does not wait for consent.`, { blame: 'user' });
  const question = formatConsentQuestion(state);
  await send(store, run, { type: 'answer', run: run.id, call: consentCall, question, allowed, ...from(by) });
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
  const { messages } = await requireOpenStep(store, run, step);
  const unread = (await store.inbox.read(run.session, 0)).flatMap(({ message }) =>
    message.type === 'steer' && message.step === step ? [message.text] : [],
  );
  const chars = [...messages, ...unread, text].reduce((sum, each) => sum + each.length, 0);
  if (chars > maxMessageChars)
    throw new FairleadError(
      'fleet/step-full',
      `The messages to the step ${step} would have more than ${maxMessageChars} characters.`,
      { blame: 'user', hint: 'Send a shorter message, or cancel the step.' },
    );
  await send(store, run, { type: 'steer', run: run.id, step, text, ...from(by) });
}

/** Each attempt at a step reads all messages to it. */
const maxMessageChars = 1_000_000;

const readState = async (store: PlanControlStore, run: FleetRun): Promise<PlanState> =>
  foldPlan(await readRecorded(store.sessions, run), run.id);

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
async function requireOpenStep(store: PlanControlStore, run: FleetRun, id: string): Promise<StepRecord> {
  assertPlan(run);
  const { steps } = await readState(store, run);
  const step = steps.get(id);
  if (!step)
    throw new FairleadError('fleet/no-step', `The plan ${run.id} has no step ${id.slice(0, 100)}.`, {
      blame: 'user',
      hint: `Its steps are: ${[...steps.keys()].join(', ') || 'not planned yet'}.`,
    });
  if (step.status === 'done' || step.status === 'replaced' || isUnsuccessful(step))
    throw new FairleadError('fleet/step-ended', `The step ${id} has already ended: it is ${step.status}.`, {
      blame: 'user',
    });
  return step;
}
