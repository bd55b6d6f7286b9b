// Orchestrates a plan: a model writes it, it is checked, its steps run in waves as far as their dependencies and the caps allow, and one answer combines their results.
import { parseAnswer } from '../../agent/index.ts';
import { errorMessage, type FleetRun, type JsonObject, type RunOutcome } from '../../core/index.ts';
import type { ChildRun, Orchestration, OrchestrationContext, OrchestrationStep } from '../orchestrator.ts';
import {
  assertIndependentVerifier,
  countFreeSteps,
  createPlanStart,
  getPlanBounds,
  type DescribeCatalog,
  type PlanCatalog,
} from './catalog.ts';
import { consentCall, formatConsentQuestion } from './consent.ts';
import { estimatePlan, type PlanEstimate } from './estimate.ts';
import { isActive, isUnsuccessful, type PlanStart, type StepRecord } from './events.ts';
import { readPlanMessages } from './messages.ts';
import { parsePlanOptions, maxUnconfirmedSteps, type ResolvedPlanOptions } from './options.ts';
import { createPlanSchema, parsePlan, type ParsedPlan, type PlanStep } from './plan.ts';
import { formatAnswerPrompt, formatPlanPrompt, formatReplanPrompt, loadTaskFormat } from './prompts.ts';
import { PlanRound, isSuccessful } from './round.ts';
import { advanceSteps, createStepRun, isVerifiedByModel } from './steps.ts';

/** Characters of the reason of each step in the outcome; the step has all of it. */
const maxReasonChars = 200;

/** How often a plan is requested before planning has failed. */
const maxPlanAttempts = 3;

/** Creates the orchestration of runs of kind `plan`. `describe` says what a plan can use; without it, names of tools are not checked. */
export const createPlanOrchestration =
  (describe: DescribeCatalog = async () => ({})): Orchestration =>
  async (run, children, context) => {
    const options = parsePlanOptions(run.settings['plan']);
    const round = new PlanRound(run, children, context.recorded);
    const catalog = createCatalogReader(run, options, describe);
    const start = round.state.start ?? (await startPlan(round, options, await catalog()));
    readPlanMessages(round, context.messages);
    const step = await decide(round, options, start, catalog);
    return { ...step, ...describeRound(round, context) };
  };

/** The orchestration of plans that use whatever the agent of a run has. */
export const planOrchestration: Orchestration = createPlanOrchestration();

/** Reads the catalog at most once in a round. */
function createCatalogReader(
  run: FleetRun,
  { verifier }: ResolvedPlanOptions,
  describe: DescribeCatalog,
): () => Promise<PlanCatalog> {
  let read: Promise<PlanCatalog> | undefined;
  return () => (read ??= describe(run, verifier));
}

async function startPlan(round: PlanRound, options: ResolvedPlanOptions, catalog: PlanCatalog): Promise<PlanStart> {
  if (options.verify !== 'none') assertIndependentVerifier(catalog);
  const start = createPlanStart(round.run, options, catalog);
  round.emit({ type: 'plan-started', ...start });
  return start;
}

/** The events of a round with the status of each step, and the messages that are forwarded to steps. */
function describeRound(
  round: PlanRound,
  { recorded }: OrchestrationContext,
): Pick<OrchestrationStep, 'progress' | 'send' | 'cancel'> {
  const steps = [...round.state.steps.values()].map(({ id, status }) => ({ id, status }));
  const isNew = round.events.length > 0 || recorded.length === 0;
  return {
    ...(isNew ? { progress: { run: round.run.id, events: round.events, steps } } : {}),
    ...(round.sends.length > 0 ? { send: round.sends } : {}),
    cancel: round.listCancelled(),
  };
}

type Decision =
  | Pick<OrchestrationStep & { type: 'go-on' }, 'type' | 'start' | 'expected' | 'questions'>
  | Pick<OrchestrationStep & { type: 'end' }, 'type' | 'outcome'>;

async function decide(
  round: PlanRound,
  options: ResolvedPlanOptions,
  start: PlanStart,
  catalog: () => Promise<PlanCatalog>,
): Promise<Decision> {
  for (;;) {
    const { state } = round;
    const { end } = state;
    // The plan has ended before, and a crash has lost the result.
    if (end && !round.children.has('answer')) return endPlan(round, { ...end, text: '' });
    if (state.isRefused) return endPlan(round, { reason: 'cancelled', detail: 'The plan was not approved.', text: '' });
    if (state.stage === 'planning') {
      const decision = await getPlan(round, options, start, catalog);
      if (decision) return decision;
    } else if (state.stage === 'proposed') return waitForConsent(round);
    else {
      const decision = await execute(round, options, start);
      if (decision) return decision;
    }
  }
}

/** Asks for a plan, or accepts the one that was written; undefined once there is one, or none is to be had. */
async function getPlan(
  round: PlanRound,
  options: ResolvedPlanOptions,
  start: PlanStart,
  catalog: () => Promise<PlanCatalog>,
): Promise<Decision | undefined> {
  const { run, state, children } = round;
  const { revision, rejected } = state;
  const isFirst = revision === 1;
  const bounds = getPlanBounds(run, start, state);
  const given = isFirst ? options.steps : undefined;
  if (given) {
    const parsed = parsePlan({ steps: given }, bounds);
    if ('errors' in parsed)
      return endPlan(round, {
        reason: 'error-threshold',
        detail: `The plan is not valid: ${parsed.errors.join(' ')}`,
        text: '',
      });
    await accept(round, options, parsed.steps, await catalog());
    return undefined;
  }
  const attempt = rejected.length + 1;
  const name = isFirst ? `plan-${attempt}` : `replan-${revision - 1}-${attempt}`;
  if (attempt <= maxPlanAttempts) {
    const child = children.get(name);
    if (!child) {
      const errors = rejected.at(-1) ?? [];
      const prompt = isFirst
        ? formatPlanPrompt(run, bounds, errors)
        : formatReplanPrompt(run, bounds, errors, state, round.texts());
      // A plan states nothing that could be verified.
      const settings = { ...planlessSettings, tools: false, verify: null, answer: createPlanSchema(bounds) };
      return { type: 'go-on', start: [{ name, prompt, settings }] };
    }
    if (child.status !== 'ended') return { type: 'go-on', start: [] };
    const parsed = parsePlanRun(child, bounds);
    if ('steps' in parsed) {
      if (parsed.steps.length === 0) round.emit({ type: 'replan-given-up', revision });
      else await accept(round, options, parsed.steps, await catalog());
    } else round.emit({ type: 'plan-rejected', revision, errors: parsed.errors });
    return undefined;
  }
  if (!isFirst) {
    round.emit({ type: 'replan-given-up', revision });
    return undefined;
  }
  const detail = `Could not create a plan: ${rejected.at(-1)?.join(' ') ?? ''}`;
  return endPlan(round, { reason: 'error-threshold', detail, text: '' });
}

/** The settings of every child run: it is no plan itself. */
const planlessSettings: JsonObject = { plan: null };

function parsePlanRun(child: FleetRun, bounds: Parameters<typeof parsePlan>[1]): ParsedPlan {
  if (!isSuccessful(child)) return { errors: [child.outcome?.detail ?? 'The model returned no plan.'] };
  try {
    return parsePlan(parseAnswer(child.outcome?.text ?? ''), bounds);
  } catch (error) {
    return { errors: [errorMessage(error)] };
  }
}

/** Accepts a plan with its estimate. Later plans stay within the caps that the user has agreed to; if no consent was needed so far, they can need it. */
async function accept(
  round: PlanRound,
  options: ResolvedPlanOptions,
  steps: readonly PlanStep[],
  catalog: PlanCatalog,
): Promise<void> {
  const { run, state } = round;
  const { revision, start } = state;
  const { tools, model, verifier } = catalog;
  const estimate = estimatePlan(steps, {
    prompt: run.prompt,
    hasTools: run.settings['tools'] !== false && tools?.length !== 0,
    ...(model?.price ? { price: model.price } : {}),
    ...(start?.verifier !== undefined ? { verifierPrice: verifier?.price ?? 'unknown' } : {}),
    attempts: options.attempts,
    isVerified: (step) =>
      isVerifiedByModel(step, options, start ?? {}) || (step.verify === true && options.verify !== 'none'),
  });
  const consent = getConsentReason(options, steps, estimate, round);
  round.emit({ type: 'plan-accepted', revision, steps, estimate, ...(consent === undefined ? {} : { consent }) });
}

/** Returns why a plan needs consent before it starts; undefined if it needs none, or has it. What earlier revisions took counts. */
function getConsentReason(
  { confirm, confirmAbove }: ResolvedPlanOptions,
  steps: readonly PlanStep[],
  { usd }: PlanEstimate,
  round: PlanRound,
): string | undefined {
  const { state } = round;
  if (confirm === false || state.isApproved) return undefined;
  if (confirm) return 'consent was asked for';
  const most = state.start?.limits.usd;
  const total = usd === undefined ? undefined : usd + round.spent().usd;
  if (total !== undefined && most !== undefined && total > most) return `the estimate is above the limit of $${most}`;
  if (total !== undefined) return total > confirmAbove ? `the estimate is above $${confirmAbove}` : undefined;
  const started = [...state.steps.values()].filter(({ attempt }) => attempt > 0).length;
  return started + steps.length > maxUnconfirmedSteps
    ? `its cost is unknown, and it has more than ${maxUnconfirmedSteps} steps`
    : undefined;
}

function waitForConsent({ state }: PlanRound): Decision {
  const question = formatConsentQuestion(state);
  return { type: 'go-on', start: [], questions: [{ call: consentCall, tool: 'plan', question }] };
}

/** Advances the steps, asks for a new plan if some failed, and ends with one answer; undefined if a new plan is needed. */
async function execute(
  round: PlanRound,
  options: ResolvedPlanOptions,
  start: PlanStart,
): Promise<Decision | undefined> {
  advanceSteps(round, options, start);
  const steps = [...round.state.steps.values()];
  const waiting = steps.filter(({ status }) => status === 'waiting').length;
  if (steps.some(isActive)) {
    const formatTask = await loadTaskFormat(round.run);
    const missing = steps.flatMap((step): readonly ChildRun[] => createStepRun(round, step, options, formatTask));
    return { type: 'go-on', start: missing, expected: waiting + 1 };
  }
  const failed = steps.filter(({ status, isFinal }) => status === 'failed' && !isFinal).map(({ id }) => id);
  const { revision, gaveUp } = round.state;
  const hasRoom = countFreeSteps(start, round.state) > 0;
  if (failed.length > 0 && revision <= start.replans && !gaveUp && hasRoom) {
    round.emit({ type: 'replan-started', revision: revision + 1, failed });
    return undefined;
  }
  // What a cancelled step took counts, and its run may not go on after the plan has ended.
  if (round.listCancelled().length > 0) return { type: 'go-on', start: [] };
  return answer(round, steps);
}

function answer(round: PlanRound, steps: readonly StepRecord[]): Decision {
  const { run, state, children } = round;
  const unsuccessful = steps.filter(isUnsuccessful);
  const problems = unsuccessful.map(({ id, why = '' }) => `${id} (${why.slice(0, maxReasonChars)})`).join(', ');
  if (!steps.some(({ status }) => status === 'done'))
    return endPlan(round, {
      reason: 'error-threshold',
      detail: `No step of the plan succeeded: ${problems}`,
      text: '',
    });
  const child = children.get('answer');
  if (state.stage === 'running') round.emit({ type: 'answer-started' });
  if (!child) {
    const prompt = formatAnswerPrompt(run, state, round.texts());
    return { type: 'go-on', start: [{ name: 'answer', prompt, settings: planlessSettings }], expected: 0 };
  }
  if (child.status !== 'ended' || !child.outcome) return { type: 'go-on', start: [] };
  const { spent: _, ...outcome } = child.outcome;
  const detail =
    unsuccessful.length === 0 ? outcome.detail : `${unsuccessful.length} of the steps did not succeed: ${problems}`;
  return endPlan(round, { ...outcome, ...(detail === undefined ? {} : { detail }) });
}

function endPlan(round: PlanRound, outcome: Omit<RunOutcome, 'spent'>): Decision {
  const unsuccessful = [...round.state.steps.values()].filter(isUnsuccessful).map(({ id }) => id);
  const { reason, detail } = outcome;
  if (round.state.stage !== 'ended')
    round.emit({ type: 'plan-ended', reason, unsuccessful, ...(detail === undefined ? {} : { detail }) });
  return { type: 'end', outcome };
}
