// The users of a schedule: they queue runs, send messages, answer questions truthfully, and use the kill switch.
import { FairleadError, sleepOn, type FleetRun, type FleetStore } from '../src/core/index.ts';
import { cancelStep, enqueueOnce, sendMessage, steerStep } from '../src/fleet/index.ts';
import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import type { Scenario, UserAction } from './scenarios.ts';
import type { World } from './world.ts';

/** What users need. */
export type UserContext = {
  readonly store: FleetStore;
  readonly process: SimulatedProcess;
  readonly world: World;
  readonly scenario: Scenario;
  readonly random: Random;
  readonly duplicates: boolean;
  readonly isDone: () => boolean;
  readonly stopWorker: (slot: number) => void;
  readonly trace: ((line: string) => void) | undefined;
};

/** Milliseconds between two looks at the runs that wait. */
const lookMs = 300;

/** Starts the users. Returns how many actions are left. */
export function startUsers(context: UserContext): () => number {
  const { scenario, process, trace } = context;
  let left = scenario.actions.length;
  for (const action of scenario.actions)
    process.deliver(action.at, () => {
      trace?.(`user: ${action.type}`);
      void act(context, action)
        .catch((error: unknown) =>
          context.world.report('not-stuck', `the user could not ${action.type}: ${String(error)}`),
        )
        .finally(() => (left -= 1));
    });
  void answerQuestions(context);
  return () => left;
}

/** Does it twice at times, as an impatient user or a client that repeats its request does. */
async function perhapsTwice({ duplicates, random, process }: UserContext, work: () => Promise<unknown>): Promise<void> {
  const again = async (): Promise<void> => {
    await sleepOn(process.port, random.pick([0, 20, 400, 2500]));
    await work();
  };
  await Promise.all(duplicates && random.chance(0.5) ? [work(), again()] : [work()]);
}

async function act(context: UserContext, action: UserAction): Promise<void> {
  const { store, world, process } = context;
  switch (action.type) {
    case 'enqueue':
      return perhapsTwice(context, () =>
        enqueueOnce(store, action.runs, { createConflictError: (id) => new Error(`${id} differs.`) }),
      );
    case 'message': {
      const { session, message } = action;
      const text = 'text' in message ? message.text : '';
      const sent = { session, text, accepted: false };
      world.messages.push(sent);
      sent.accepted = await sendMessage(store, session, message);
      return;
    }
    case 'cancel':
      return perhapsTwice(context, () => store.queue.cancel(action.run, 'Not wanted.'));
    case 'cancel-step':
    case 'steer-step':
      return perhapsTwice(context, () => changeStep(context, action));
    case 'stop-fleet':
      await store.killSwitch.stop('a test', 'user');
      world.stoppedSince = process.port.monotonicMs();
      return;
    case 'resume-fleet':
      world.stoppedSince = undefined;
      await store.killSwitch.resume('user');
      return;
    case 'schedule':
      await store.queue.setSchedule({ name: action.name, cron: '* * * * *', run: action.run });
      return;
    case 'stop-worker':
      context.stopWorker(action.slot);
  }
}

/** The message to a step. */
export const stepMessage = 'In short.';

async function changeStep(
  { store }: UserContext,
  { type, run: id, step }: UserAction & { readonly type: 'cancel-step' | 'steer-step' },
): Promise<void> {
  const run = await store.queue.run(id);
  if (!run) return;
  try {
    await (type === 'cancel-step' ? cancelStep(store, run, step) : steerStep(store, run, step, stepMessage));
  } catch (error) {
    // There is no such step yet, or it has ended.
    if (!(error instanceof FairleadError) || error.blame !== 'user') throw error;
  }
}

async function answerQuestions(context: UserContext): Promise<void> {
  const { store, process, isDone } = context;
  while (!isDone()) {
    await sleepOn(process.port, lookMs);
    for (const run of await store.queue.list({ status: 'waiting' })) await answerRun(context, run);
  }
}

/** Answers what a run asks: about a call with an unknown outcome what is true, about an approval yes or no. */
async function answerRun(context: UserContext, { id, session, pendingApprovals }: FleetRun): Promise<void> {
  const { store, world, random, scenario, trace } = context;
  for (const { call, kind, question } of pendingApprovals) {
    const mark = /"mark":"([^"]+)"/.exec(question)?.[1] ?? '';
    const happened = world.effects.some((effect) => effect.call === mark);
    const isOutcome = kind === 'unknown-outcome';
    const isRejected = !isOutcome && (world.rejected.has(mark) || random.chance(scenario.rejections));
    if (isRejected) world.rejected.add(mark);
    const allowed = isOutcome ? !happened : !isRejected;
    trace?.(
      `user answers ${mark}: ${isOutcome ? (happened ? 'it happened' : 'run it again') : allowed ? 'yes' : 'no'}`,
    );
    const answer = {
      type: 'answer',
      call,
      allowed,
      question,
      run: id,
      by: 'user',
      ...(isOutcome ? { happened } : {}),
    } as const;
    await perhapsTwice(context, () => sendMessage(store, session, answer));
  }
}
