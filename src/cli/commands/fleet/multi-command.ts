// The `multi` command: a model plans a question as steps, workers do them in parallel, and one answer combines the results; it can be interrupted and resumed.
import { userInfo } from 'node:os';
import { FairleadError, type FleetRun, type FleetStore, type JsonObject } from '../../../core/index.ts';
import { answerPlan, enqueueOnce, findRun, readPlan, type PlanView } from '../../../fleet/index.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { stringOption, withOptions, type ParsedOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { isBatchDone } from './batch-done.ts';
import { formatRunQuestions } from './format-runs.ts';
import { withFleetStore } from './open-store.ts';
import { parseCount, parseUsd } from './parse-numbers.ts';
import { createRunSettings, runIdConflictError } from './parse-tasks.ts';
import { createPlanScreen, type PlanScreen } from './plan-screen.ts';
import { startWorkerProcesses } from './worker-processes.ts';

const usage = `Usage: fairlead multi "<question>" [--model <name>] [--verifier <name>] [--yes] [--json] [--auto] [--id <id>]
                      [--max-steps <n>] [--max-depth <n>] [--parallel <n>] [--max-usd <n>] [--attempts <n>] [--replans <n>]
                      [--tenant <name>] [--store <file or url>]
       fairlead multi --resume <run> [--yes] [--json]

A model writes a plan of steps, which is checked and shown with its estimate and caps. In a terminal it starts after your
consent; without one it starts if --yes is given, or the estimate is at most 1 dollar (10 steps if the cost is unknown).
Steps that do not depend on each other run at the same time, in the queue of the fleet. Ctrl+C releases them; --resume
continues, and nothing is done twice. "fairlead runs steer" and "fairlead runs cancel" change one step.
Exit code 0: there is an answer and no step failed; otherwise 1.`;

const options = {
  model: stringOption,
  verifier: stringOption,
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  auto: { type: 'boolean' },
  id: stringOption,
  resume: stringOption,
  'max-steps': stringOption,
  'max-depth': stringOption,
  parallel: stringOption,
  'max-usd': stringOption,
  attempts: stringOption,
  replans: stringOption,
  tenant: stringOption,
  store: stringOption,
} as const;

type MultiOptions = ParsedOptions<typeof options>;

/** Runs a plan; exit code 0 answered and no step failed, 130 or 143 by a signal, otherwise 1. */
export const run: Command['run'] = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const prompt = positionals.join(' ').trim();
    if (prompt === '' && values.resume === undefined) throw new TypeError('A question is needed.');
    if (prompt !== '' && values.resume !== undefined) throw new TypeError('--resume takes no question.');
    const isAsked = values.json !== true && process.stdin.isTTY && process.stderr.isTTY;
    const settings = createSettings(values, isAsked);
    const concurrency = (parseCount('--parallel', values.parallel) ?? 4) + 1;
    return withFleetStore(values.store, async (store, storeUrl) => {
      const queued =
        values.resume === undefined
          ? await enqueuePlan(store, prompt, values, settings)
          : await requirePlan(store, values.resume);
      if (!values.json && queued.status !== 'ended')
        printErr(`To continue after an interruption: fairlead multi --resume ${queued.id}\n`);
      const screen = createPlanScreen(values.json === true ? undefined : process.stderr);
      const follower = { store, id: queued.id, isAsked, yes: values.yes === true, screen };
      let code: number | undefined;
      if (queued.status !== 'ended') {
        const workers = startWorkerProcesses(1, storeUrl, ['--concurrency', String(concurrency)]);
        code = await workers.waitUntil(() => isPlanDone(follower));
      }
      return report(follower, values.json === true, code);
    });
  },
);

function createSettings(values: MultiOptions, isAsked: boolean): JsonObject {
  const caps = definedOf({
    steps: parseCount('--max-steps', values['max-steps']),
    depth: parseCount('--max-depth', values['max-depth']),
    parallel: parseCount('--parallel', values.parallel),
  });
  const usd = parseUsd('--max-usd', values['max-usd']);
  const plan = definedOf({
    caps,
    attempts: parseCount('--attempts', values.attempts),
    replans: parseCount('--replans', values.replans, 0),
    verifier: values.verifier,
    confirm: values.yes ? false : isAsked ? true : undefined,
  });
  return { ...createRunSettings(values), ...(usd === undefined ? {} : { limits: { usd } }), plan };
}

const definedOf = (fields: Readonly<Record<string, JsonObject | string | number | boolean | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;

async function enqueuePlan(
  store: FleetStore,
  prompt: string,
  { id = `multi-${crypto.randomUUID().slice(0, 8)}`, tenant }: MultiOptions,
  settings: JsonObject,
): Promise<FleetRun> {
  const plan = { id, prompt, kind: 'plan', settings, ...(tenant === undefined ? {} : { tenant }) };
  const [queued] = await enqueueOnce(store, [plan], { createConflictError: runIdConflictError });
  if (queued) return queued;
  throw new FairleadError('cli/no-run', 'The queue did not accept the run.', { blame: 'store' });
}

async function requirePlan({ queue }: FleetStore, given: string): Promise<FleetRun> {
  const found = await findRun(queue, given);
  if (found?.kind === 'plan') return found;
  throw new FairleadError('cli/no-run', found ? `${found.id} is not a plan.` : `There is no run ${given}.`, {
    blame: 'user',
    hint: 'fairlead runs lists them.',
  });
}

type Follower = {
  readonly store: FleetStore;
  readonly id: string;
  /** Whether the user can be asked. */
  readonly isAsked: boolean;
  readonly yes: boolean;
  readonly screen: PlanScreen;
};

/** Shows the plan as it is now, asks for consent if it waits for it, and returns whether it has ended or cannot continue. */
async function isPlanDone(follower: Follower): Promise<boolean> {
  const { store, id, screen } = follower;
  const found = await store.queue.run(id);
  if (!found) return true;
  const plan = await readPlan(store, found);
  screen.show(plan);
  if (found.status === 'ended') return true;
  if (found.status === 'waiting' && plan.stage === 'proposed') return !(await askForConsent(follower, found, plan));
  return isBatchDone(store, [found]);
}

/** Sends the decision of the user; returns false if there is none. */
async function askForConsent(
  { store, isAsked, yes, screen }: Follower,
  run: FleetRun,
  plan: PlanView,
): Promise<boolean> {
  const by = userInfo().username;
  // The decision may be on its way already.
  if ((await store.inbox.read(run.session, 0)).some(({ message }) => message.type === 'answer')) return true;
  if (yes) return answerPlan(store, run, true, by).then(() => true);
  if (!isAsked) return false;
  const { readAnswerLine } = await import('../../print-mode/read-line.ts');
  screen.finish();
  const answer = await readAnswerLine(`The plan waits for consent because ${plan.consent}.`, 'Start it? [y/N] ');
  if (answer === undefined) return false;
  await answerPlan(store, run, /^y(es)?$/i.test(answer), by);
  return true;
}

/** Prints the answer, or why there is none, and returns the exit code. */
async function report({ store, id, screen }: Follower, json: boolean, code: number | undefined): Promise<number> {
  const found = (await store.queue.run(id)) ?? (await requirePlan(store, id));
  const plan = await readPlan(store, found);
  screen.show(plan);
  screen.finish();
  const { outcome } = found;
  const isAnswered = outcome?.reason === 'answered' || outcome?.reason === 'task-complete';
  const failed = plan.steps.filter(({ status }) => ['failed', 'blocked', 'cancelled'].includes(status));
  if (json) print(`${JSON.stringify({ run: found, plan })}\n`);
  else if (isAnswered) print(`${outcome.text}\n`);
  if (!json) await printProblems(store, found, plan);
  if (code !== undefined && found.status !== 'ended') return code;
  return isAnswered && failed.length === 0 ? exitCodes.answered : exitCodes.failed;
}

async function printProblems(store: FleetStore, run: FleetRun, plan: PlanView): Promise<void> {
  const { outcome } = run;
  if (outcome?.detail !== undefined) printErr(`${outcome.detail}\n`);
  if (outcome) return;
  const children = await store.queue.list({ parent: run.id, limit: 1000 });
  if (plan.stage === 'proposed')
    printErr(`The plan has not started: ${plan.consent}.\nTo start it: fairlead multi --resume ${run.id} --yes\n`);
  for (const child of children)
    if (child.status === 'waiting' && child.pendingApprovals.length > 0) printErr(`${formatRunQuestions(child)}\n`);
  if (plan.stage !== 'proposed') printErr(`To continue: fairlead multi --resume ${run.id}\n`);
}
