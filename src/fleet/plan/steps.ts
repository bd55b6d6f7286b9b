// Advances the steps of a plan: reads the results of their child runs, retries, verifies, blocks dependents, and starts what is ready within the caps.
import { parseAnswer } from '../../agent/index.ts';
import { errorMessage, isObject, type FleetRun, type Json, type JsonObject } from '../../core/index.ts';
import type { ChildRun } from '../orchestrator.ts';
import { isActive, isUnsuccessful, type PlanStart, type StepRecord } from './events.ts';
import type { ResolvedPlanOptions } from './options.ts';
import type { PlanStep } from './plan.ts';
import { formatStepPrompt, formatVerifyPrompt, verdictSchema, type FormatTask } from './prompts.ts';
import { getCost, getStepRunName, getVerifyRunName, isSuccessful, type PlanRound } from './round.ts';

/** Reasons after which another attempt or another plan cannot help. */
const finalReasons: readonly string[] = ['kill-switch', 'money-budget', 'token-budget'];

/** Whether a model other than the author verifies a step. */
export const isVerifiedByModel = (
  step: Pick<PlanStep, 'verify'>,
  { verify }: ResolvedPlanOptions,
  { verifier }: Pick<PlanStart, 'verifier'>,
): boolean => verifier !== undefined && (verify === 'all' || (verify === 'marked' && step.verify === true));

/** Advances the steps until nothing changes. */
export function advanceSteps(round: PlanRound, options: ResolvedPlanOptions, start: PlanStart): void {
  for (let before = -1; before < round.events.length;) {
    before = round.events.length;
    for (const { id } of [...round.state.steps.values()].filter(isActive)) observeStep(round, id, options, start);
    blockSteps(round);
    startSteps(round, start);
  }
}

/** Reads what became of the current attempt of a step. */
function observeStep(round: PlanRound, id: string, options: ResolvedPlanOptions, start: PlanStart): void {
  const step = round.state.steps.get(id);
  if (!step) return;
  const { attempt } = step;
  if (step.status === 'under-way') {
    const run = round.children.get(getStepRunName(step));
    if (run?.status !== 'ended') return;
    const cost = getCost(run);
    if (!isSuccessful(run)) failAttempt(round, step, run, start);
    else if (isVerifiedByModel(step, options, start)) round.emit({ type: 'step-verifying', step: id, attempt, cost });
    else round.emit({ type: 'step-done', step: id, attempt, cost });
    return;
  }
  const run = round.children.get(getVerifyRunName(step));
  if (run?.status !== 'ended') return;
  const problem = findProblem(run);
  if (problem === undefined) round.emit({ type: 'step-done', step: id, attempt, cost: getCost(run) });
  else failAttempt(round, step, run, start, problem);
}

/** Returns why a verifier did not pass a result; a verifier that gives no verdict does not pass it. */
function findProblem(run: FleetRun): string | undefined {
  const detail = run.outcome?.detail ?? run.outcome?.reason ?? '';
  if (!isSuccessful(run)) return `Its result could not be verified: ${detail}`;
  try {
    const verdict = parseAnswer(run.outcome?.text ?? '');
    if (!isObject(verdict) || typeof verdict['passed'] !== 'boolean')
      return 'Its result could not be verified: the verifier gave no verdict.';
    if (verdict['passed']) return undefined;
    return `The verifier did not pass it: ${typeof verdict['reason'] === 'string' ? verdict['reason'] : 'no reason was given'}`;
  } catch (error) {
    return `Its result could not be verified: ${errorMessage(error)}`;
  }
}

function failAttempt(
  round: PlanRound,
  { id, attempt }: StepRecord,
  run: FleetRun,
  { attempts }: PlanStart,
  problem?: string,
): void {
  const { reason = 'cancelled', detail } = run.outcome ?? {};
  const why = problem ?? detail ?? reason;
  const cost = getCost(run);
  // A run that the user cancelled, or that used up its budget, is not tried again.
  if (reason === 'cancelled') return round.emit({ type: 'step-cancelled', step: id, why });
  if (finalReasons.includes(reason))
    return round.emit({ type: 'step-failed', step: id, attempt, why, isFinal: true, cost });
  round.emit({ type: attempt < attempts ? 'attempt-failed' : 'step-failed', step: id, attempt, why, cost });
}

/** Marks the steps that cannot start because a step they depend on did not succeed; those behind them follow in the next pass. */
function blockSteps(round: PlanRound): void {
  for (const { id, status, after } of round.state.steps.values()) {
    if (status !== 'waiting') continue;
    const by = after.find((each) => {
      const need = round.state.steps.get(each);
      return need !== undefined && isUnsuccessful(need);
    });
    if (by !== undefined) round.emit({ type: 'step-blocked', step: id, by });
  }
}

/** Starts the steps that are ready, as far as the caps allow. */
function startSteps(round: PlanRound, { caps, limits }: PlanStart): void {
  const { steps } = round.state;
  let free = caps.parallel - [...steps.values()].filter(isActive).length;
  const ready = [...steps.values()].filter(
    ({ status, after }) => status === 'waiting' && after.every((each) => steps.get(each)?.status === 'done'),
  );
  const spent = round.spent();
  const used = (['usd', 'tokens'] as const).find((name) => (limits[name] ?? Infinity) <= spent[name]);
  for (const { id, attempt } of ready) {
    if (used !== undefined) {
      const why = `the plan has used up its limit of ${limits[used]} ${used}`;
      round.emit({ type: 'step-failed', step: id, attempt, why, isFinal: true, cost: { usd: 0, tokens: 0 } });
      continue;
    }
    if (free <= 0) return;
    free -= 1;
    round.emit({ type: 'step-started', step: id, attempt: attempt + 1 });
  }
}

/** Returns the child run of an active step, if it does not exist yet. Its name is fixed, so a crash starts none twice. */
export function createStepRun(
  round: PlanRound,
  step: StepRecord,
  options: ResolvedPlanOptions,
  formatTask: FormatTask,
): readonly ChildRun[] {
  const texts = round.texts();
  const task = formatTask(step);
  if (step.status === 'under-way') {
    const name = getStepRunName(step);
    if (round.children.has(name)) return [];
    return [{ name, prompt: formatStepPrompt(task, step, texts), settings: getStepSettings(round, step, options) }];
  }
  const name = getVerifyRunName(step);
  if (step.status !== 'verifying' || round.children.has(name)) return [];
  const result = round.children.get(getStepRunName(step))?.outcome?.text ?? '';
  const settings: JsonObject = {
    plan: null,
    agent: null,
    verify: null,
    tools: false,
    planRole: 'verifier',
    model: options.verifier ?? null,
    answer: verdictSchema,
  };
  return [{ name, prompt: formatVerifyPrompt(task, step, result, texts), settings }];
}

/** The settings of a step: those of the plan, narrowed by what the step asks for. */
function getStepSettings({ run, state }: PlanRound, step: StepRecord, options: ResolvedPlanOptions): JsonObject {
  const { verify, tools, agent, auto, limits } = step;
  const isChecked = verify === true && state.start?.verifier === undefined && options.verify !== 'none';
  return {
    plan: null,
    ...(isChecked ? { verify: true } : {}),
    ...(tools ? narrowTools(run.settings['tools'], tools) : {}),
    ...(agent === undefined ? {} : { agent }),
    ...(auto === false ? { auto } : {}),
    ...(limits ? { limits: { ...limits } } : {}),
  };
}

/** A step has no tool that its plan does not have. */
function narrowTools(own: Json | undefined, asked: readonly string[]): { readonly tools?: readonly string[] } {
  if (own === false) return {};
  return { tools: Array.isArray(own) ? asked.filter((name) => own.includes(name)) : asked };
}
