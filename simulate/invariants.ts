// Checks the invariants of a schedule that has ended, from the logs, the queue and the record of what happened outside.
import { isObject, type Event, type FleetRun } from '../src/core/index.ts';
import { toFleetRun } from '../src/stores/run-row.ts';
import { formatMark, listTurns, readMark } from './provider.ts';
import type { Scenario } from './scenarios.ts';
import type { StoreState } from './store-state.ts';
import { effectTools } from './tools.ts';
import type { World } from './world.ts';

/** Reports each invariant that is broken at the end. */
export function checkEnd(world: World, state: StoreState, scenario: Scenario): void {
  const runs = state.tables.runs.rows().map(toFleetRun);
  for (const run of runs) {
    const events = state.tables.sessions.get(run.session)?.events ?? [];
    checkEffectsOnce(world, run);
    if (run.kind !== 'run') continue;
    checkOutcome(world, run, scenario);
    checkRunOnce(world, run, events);
    if (run.outcome?.reason === 'answered') checkNothingLost(world, run, events);
    checkApprovals(world, run, events);
  }
  checkMessages(world, state, runs);
  checkPlan(world, state, runs);
}

/** An effect happens at most once, whatever fails. */
function checkEffectsOnce(world: World, run: FleetRun): void {
  const counts = new Map<string, number>();
  for (const { call, run: of } of world.effects) if (of === run.id) counts.set(call, (counts.get(call) ?? 0) + 1);
  for (const [call, count] of counts)
    if (count > 1) {
      const by = world.effects
        .filter((effect) => effect.call === call)
        .map(({ worker, at }) => `${worker} at ${Math.round(at)}`);
      world.report('effect-once', `the effect of ${call} happened ${count} times: ${by.join(', ')}`);
    }
}

/** A run ends with an answer, unless the scenario has a reason for another end. */
function checkOutcome(world: World, { id, outcome }: FleetRun, { otherEnds, providerFaults }: Scenario): void {
  if (!outcome || outcome.reason === 'answered' || otherEnds.includes(outcome.reason)) return;
  if (outcome.reason === 'error-threshold' && providerFaults.failures > 0) return;
  world.report('effect-not-lost', `${id} ended as ${outcome.reason}: ${outcome.detail ?? ''}`);
}

/** A run is recorded once: one prompt, one start and one end. */
function checkRunOnce(world: World, { id, outcome }: FleetRun, events: readonly Event[]): void {
  const prompts = events.filter((event) => event.type === 'input-received' && event.input === id).length;
  const starts = events.filter((event) => event.type === 'run-started' && event.run === id).length;
  let ends = 0;
  let current: string | undefined;
  for (const event of events) {
    if (event.type === 'run-started') current = event.run;
    if (event.type === 'run-ended' && current === id) ends += 1;
  }
  if (prompts > 1 || starts > 1 || ends > 1)
    world.report('run-once', `the log of ${id} has ${prompts} prompts, ${starts} starts and ${ends} ends`);
  if (outcome?.reason === 'answered' && (prompts < 1 || starts < 1 || ends < 1))
    world.report(
      'run-once',
      `${id} was answered, and its log has ${prompts} prompts, ${starts} starts and ${ends} ends`,
    );
}

/** A run that was answered has the effect of each of its calls, and the model knows it: no result says that a call was interrupted. */
function checkNothingLost(world: World, run: FleetRun, events: readonly Event[]): void {
  const marks = listMarks(events);
  for (const [turn, tools] of listTurns(run).entries())
    for (const [i, tool] of tools.entries()) {
      const call = formatMark(run.id, turn, i);
      const isRejected = world.rejected.has(call);
      const count = world.effects.filter((effect) => effect.call === call).length;
      if (effectTools.has(tool) && count === 0 && !isRejected)
        world.report('effect-not-lost', `${run.id} was answered without the effect of ${call}`);
      if (isRejected && count > 0) world.report('approval-once', `${call} was rejected and took effect`);
      const wanted = isRejected ? 'denied' : 'ok';
      const outcomes = events.flatMap((event) =>
        event.type === 'tool-ended' && marks.get(event.call) === call ? [event.outcome] : [],
      );
      if (outcomes.length !== 1 || outcomes[0] !== wanted)
        world.report(
          'effect-not-lost',
          `the log says of ${call}: ${outcomes.join(', ') || 'nothing'} instead of ${wanted}`,
        );
    }
}

/** The mark of each call by the id that the log has for it. */
const listMarks = (events: readonly Event[]): ReadonlyMap<string, string> =>
  new Map(
    events.flatMap((event) =>
      event.type === 'turn-ended'
        ? event.message.parts.flatMap((part) =>
            part.type === 'tool-call' ? [[part.id, readMark(part.input)] as const] : [],
          )
        : [],
    ),
  );

/** A call that needs an approval takes effect only after one, and one approval is used once. */
function checkApprovals(world: World, { id }: FleetRun, events: readonly Event[]): void {
  const marks = listMarks(events);
  for (const { call, tool, run } of world.effects) {
    if (run !== id || tool !== 'wire') continue;
    const approved = events.findIndex(
      (event) => event.type === 'approval-resolved' && marks.get(event.call) === call && event.allowed,
    );
    const started = events.findIndex((event) => event.type === 'tool-started' && marks.get(event.call) === call);
    if (approved < 0 || started < approved) world.report('approval-once', `${call} took effect before it was approved`);
  }
  const asked = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'approval-requested') asked.set(event.call, (asked.get(event.call) ?? 0) + 1);
    if (event.type !== 'approval-resolved') continue;
    const left = (asked.get(event.call) ?? 0) - 1;
    asked.set(event.call, left);
    if (left < 0) world.report('approval-once', `an answer about ${event.call} was used twice`);
  }
}

/** A message that was accepted is in the log once. */
function checkMessages(world: World, state: StoreState, runs: readonly FleetRun[]): void {
  for (const { session, text, accepted } of world.messages) {
    const events = state.tables.sessions.get(session)?.events ?? [];
    const count = events.filter(
      (event) =>
        event.type === 'input-received' && event.parts.some((part) => part.type === 'text' && part.text === text),
    ).length;
    const isCancelled = runs.some((run) => run.session === session && run.outcome?.reason !== 'answered');
    if (count > 1 || (accepted && count === 0 && !isCancelled))
      world.report('message-once', `"${text}" to ${session} is in the log ${count} times`);
  }
}

/** A step of a plan begins after the steps that it depends on have ended, and not at all if one of them was cancelled. */
function checkPlan(world: World, state: StoreState, runs: readonly FleetRun[]): void {
  const plan = runs.find(({ kind }) => kind === 'plan');
  if (!plan) return;
  const steps = (plan.settings['steps'] ?? []) as unknown as readonly {
    readonly id: string;
    readonly after: readonly string[];
  }[];
  const cancelled = listCancelledSteps(state.tables.sessions.get(plan.session)?.events ?? []);
  const isBlocked = (id: string): boolean =>
    (steps.find((each) => each.id === id)?.after ?? []).some((needed) => cancelled.has(needed) || isBlocked(needed));
  const childOf = (id: string): FleetRun | undefined => runs.find((run) => run.id === `plan/step-${id}-1`);
  for (const { id, after } of steps) {
    const first = world.modelCalls.find(({ run }) => run === `plan/step-${id}-1`);
    if (isBlocked(id) && childOf(id)) world.report('plan-order', `step ${id} was started behind a cancelled step`);
    for (const needed of after) {
      const ended = childOf(needed)?.ended;
      if (first && ended === undefined)
        world.report('plan-order', `step ${id} began although step ${needed} has not ended`);
      const isLater = world.effects.some(
        (effect) => effect.run === `plan/step-${needed}-1` && first && effect.at > first.at,
      );
      if (isLater) world.report('plan-order', `step ${id} began before the effect of step ${needed}`);
    }
    const isLeftOut = cancelled.has(id) || isBlocked(id);
    if (plan.outcome?.reason === 'answered' && !isLeftOut && !childOf(id)?.outcome)
      world.report('plan-order', `the plan was answered without step ${id}`);
  }
}

/** The steps of which the log of a plan says that they were cancelled. */
const listCancelledSteps = (events: readonly Event[]): ReadonlySet<unknown> =>
  new Set(
    events
      .flatMap((event) => (event.type === 'annotation-added' && isObject(event.value) ? [event.value['events']] : []))
      .flatMap((recorded) => (Array.isArray(recorded) ? recorded.filter(isObject) : []))
      .filter(({ type }) => type === 'step-cancelled')
      .map(({ step }) => step),
  );
