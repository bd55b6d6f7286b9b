// The trajectory of a run: its tool calls from the event log, and whether they are as a case expects.
import {
  canonicalJson,
  isObject,
  messageToolCalls,
  unwrapDeferredCall,
  type Event,
  type Json,
  type ToolCall,
} from '../core/index.ts';
import type { ExpectedCall, Expectation } from './expectation.ts';
import type { TrajectoryStep } from './results.ts';

/** The maximum number of characters of a result in a trajectory. */
const maxResultChars = 500;

/** Returns the tool calls of events in order, each with its outcome. */
export function toTrajectory(events: Iterable<Event>): readonly TrajectoryStep[] {
  const steps = new Map<string, TrajectoryStep>();
  for (const event of events) {
    if (event.type === 'turn-ended')
      for (const call of messageToolCalls(event.message)) {
        const aim = unwrapDeferredCall(call as ToolCall);
        const { tool, input } = typeof aim === 'string' ? call : aim;
        steps.set(call.id, { turn: event.turn, tool, input, outcome: 'waiting', result: '', ms: 0 });
      }
    if (event.type === 'tool-started' || event.type === 'tool-ended') {
      const step = steps.get(event.call);
      if (!step) continue;
      if (event.type === 'tool-ended')
        steps.set(event.call, {
          ...step,
          outcome: event.outcome,
          result: event.text.slice(0, maxResultChars),
          ms: event.ms,
        });
      // A gate may have rewritten the input, and an alias may have another name.
      else if (step.tool !== event.tool || event.input !== undefined)
        steps.set(event.call, { ...step, tool: event.tool, input: event.input ?? step.input });
    }
  }
  return [...steps.values()];
}

/** Returns the model as the provider named it in its last response. */
export const getServedModel = (events: readonly Event[]): string | undefined =>
  events.findLast((event) => event.type === 'turn-ended')?.model;

/** Whether the call was executed. */
const hasRun = ({ outcome }: TrajectoryStep): boolean => outcome !== 'denied' && outcome !== 'waiting';

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(' and ');

/** Returns what is wrong with a trajectory, one sentence each; empty if it is as expected. */
export function findTrajectoryErrors(
  trajectory: readonly TrajectoryStep[],
  { toolUsed = [], toolNotUsed = [], toolArguments = [], toolSequence, maxSteps }: Expectation,
): readonly string[] {
  const ran = trajectory.filter(hasRun);
  const names = ran.map(({ tool }) => tool);
  const errors: string[] = [];
  const missing = toolUsed.filter((name) => !names.includes(name));
  if (missing.length > 0) errors.push(`It did not use ${quoted(missing)}.`);
  const called = toolNotUsed.filter((name) => trajectory.some(({ tool }) => tool === name));
  if (called.length > 0) errors.push(`It called ${quoted(called)}.`);
  for (const expected of toolArguments)
    if (!ran.some((step) => isExpectedCall(step, expected)))
      errors.push(`No call of ${JSON.stringify(expected.name)} has the arguments ${canonicalJson(expected.args)}.`);
  if (toolSequence) {
    const { steps, mode } = toolSequence;
    const isRight =
      mode === 'exact'
        ? names.length === steps.length && names.every((name, i) => name === steps[i])
        : isSubsequence(steps, names);
    if (!isRight) errors.push(`The tools ran as ${formatNames(names)}, not as ${formatNames(steps)}.`);
  }
  if (maxSteps !== undefined && trajectory.length > maxSteps)
    errors.push(`It made ${trajectory.length} tool calls, and at most ${maxSteps} are allowed.`);
  return errors;
}

function isSubsequence(steps: readonly string[], names: readonly string[]): boolean {
  let found = 0;
  for (const name of names) if (name === steps[found]) found++;
  return found >= steps.length;
}

const maxNames = 30;

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ');
  return names.length === 0 ? 'none' : names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown;
}

function isExpectedCall({ tool, input }: TrajectoryStep, { name, args, mode }: ExpectedCall): boolean {
  if (tool !== name) return false;
  return mode === 'exact' ? canonicalJson(input) === canonicalJson(args) : includesJson(input, args);
}

/** Whether a value has everything that the expected value has; lists must be equal. */
function includesJson(value: Json | undefined, expected: Json): boolean {
  if (value === undefined) return false;
  if (!isObject(expected)) return canonicalJson(value) === canonicalJson(expected);
  return (
    isObject(value) &&
    Object.entries(expected).every(([key, item]) => Object.hasOwn(value, key) && includesJson(value[key], item))
  );
}
