// From rules as data to the very objects that the makers give; what is wrong with the data is said in a sentence each.
import {
  FairleadError,
  isObject,
  closestMatches,
  type ToolCall,
  type JsonObject,
  type RunState,
} from '../../core/index.ts';
import { confirm } from '../enforcement/confirm.ts';
import { enforce, type Enforcement } from '../enforcement/enforcement.ts';
import { exclusive, phases, requireOrder } from '../enforcement/order.ts';
import { rateLimit } from '../enforcement/rate-limit.ts';
import { readBeforeEdit } from '../enforcement/read-before-edit.ts';
import { pathIn } from '../history/file-uses.ts';
import { toolUse } from '../history/questions.ts';
import { history } from '../history/view.ts';
import { builtInReminders, builtInTable } from '../reminders/built-in.ts';
import { faultsOf, type Looking, type ReminderDefinition } from '../reminders/definition.ts';
import { allOf, anyOf } from '../stops/combined.ts';
import {
  contextOver,
  errorThreshold,
  expectedOutput,
  moneyBudget,
  stopWhen,
  stuck,
  taskComplete,
  timeLimit,
  tokenBudget,
  turnLimit,
  type StopRule,
} from '../stops/stops.ts';
import { conditionShape, filled, holds, type Condition, type Subject } from './conditions.ts';
import {
  rulesShape,
  stopShape,
  type DeclaredGate,
  type DeclaredReminder,
  type DeclaredRules,
  type DeclaredStop,
} from './declared.ts';
import type { RuleSet } from './rule-set.ts';

/** The JSON Schema of rules as data, for editors. */
export const rulesSchema = (): JsonObject => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Fairlead rules',
  ...rulesShape.schema,
  $defs: { condition: conditionShape.schema, stop: stopShape.schema },
});

/** What is wrong with rules as data, a sentence each; none if they can be compiled. */
export function ruleFaults(data: unknown): readonly string[] {
  const faults = rulesShape.faults(data, 'rules');
  if (faults.length > 0) return faults;
  const { reminders = [], builtIn = false, gates = [] } = data as DeclaredRules;
  return [
    ...reminders.flatMap((each, i) => faultsOf(reminderOf(each)).map((why) => `rules.reminders[${i}]: ${why}`)),
    ...(typeof builtIn === 'boolean' ? [] : Object.keys(builtIn).flatMap(unknownBuiltIn)),
    ...gates.flatMap((each, i) => gateFaults(each).map((why) => `rules.gates[${i}] ${why}`)),
  ];
}

function unknownBuiltIn(name: string): readonly string[] {
  if (Object.hasOwn(builtInTable, name)) return [];
  const [near] = closestMatches(name, Object.keys(builtInTable));
  return [
    `rules.builtIn: there is no reminder named "${name}"${near === undefined ? '' : `; did you mean "${near}"`}.`,
  ];
}

function gateFaults(gate: DeclaredGate): readonly string[] {
  if ((gate.type === 'confirm' || gate.type === 'deny') && !gate.tools && !gate.when)
    return ['needs `tools`, `when`, or both: it would stop every call.'];
  if (gate.type !== 'phases') return [];
  const strange = [gate.start, ...gate.moves.map(({ to }) => to)].filter((name) => !Object.hasOwn(gate.phases, name));
  return strange.map((name) => `names the phase "${name}", which it does not have.`);
}

/** The rule set that this data describes. */
export function compileRules(data: unknown): RuleSet {
  const faults = ruleFaults(data);
  if (faults.length > 0)
    throw new FairleadError('rules/bad-rules', `The rules cannot be used: ${faults.slice(0, 8).join(' ')}`, {
      blame: 'user',
    });
  const {
    name,
    reminders = [],
    builtIn = false,
    gates = [],
    stops = [],
    renderers = [],
    examples = [],
  } = data as DeclaredRules;
  const shipped = builtIn === false ? [] : builtInReminders(builtIn === true ? {} : builtIn);
  return {
    name,
    reminders: [...shipped, ...reminders.map(reminderOf)],
    gates: gates.map(gateOf),
    stops: stops.map(stopOf),
    renderers,
    examples,
  };
}

const subjectOf = ({ state, event, call }: Looking): Subject => ({ state, event, call });

function reminderOf({ when, message, ...rest }: DeclaredReminder): ReminderDefinition {
  return {
    ...rest,
    message: message.includes('{') ? (looking) => filled(message, subjectOf(looking)) : message,
    ...(when ? { when: (looking: Looking) => holds(when, subjectOf(looking)) } : {}),
  };
}

const applies =
  (tools: readonly string[] | undefined, when: Condition | undefined) =>
  (call: ToolCall, state: RunState): boolean =>
    (!tools || tools.includes(call.tool)) &&
    (!when || callsFor(call).some((each) => holds(when, { state, call: each })));

/** A call that names several files, as one for each: what may not be done to one of them may not be done to all. */
function callsFor(call: ToolCall): readonly ToolCall[] {
  const { input } = call;
  if (!isObject(input) || !Array.isArray(input['paths']) || input['paths'].length === 0) return [call];
  const each = input['paths'].map((path): ToolCall => ({ ...call, input: { ...input, path } }));
  return pathIn(input) === undefined ? each : [call, ...each];
}

function gateOf(gate: DeclaredGate): Enforcement {
  const made = madeGate(gate);
  return gate.examples ? { ...made, examples: gate.examples } : made;
}

function madeGate(gate: DeclaredGate): Enforcement {
  const called = gate.name === undefined ? {} : { name: gate.name };
  switch (gate.type) {
    case 'read-before-edit':
      return readBeforeEdit(gate);
    case 'rate-limit':
      return rateLimit(gate);
    case 'order':
      return requireOrder(gate.tools, { ...called, ...(gate.per ? { per: gate.per } : {}) });
    case 'exclusive':
      return exclusive(gate.tools, { ...called, ...(gate.per ? { per: gate.per } : {}) });
    case 'confirm': {
      const { question, tools, when } = gate;
      const asked =
        question === undefined
          ? {}
          : { question: (call: ToolCall) => `${question} (${call.tool} ${JSON.stringify(call.input)})` };
      const which = tools && !when ? tools : applies(tools, when);
      return { ...confirm({ ...called, which, ...asked }), views: [history] };
    }
    case 'deny': {
      const stops = applies(gate.tools, gate.when);
      const { name = 'deny', reason } = gate;
      return enforce({
        name,
        why: reason,
        views: [history],
        objection: (call, state) => (stops(call, state) ? { deny: reason } : undefined),
      });
    }
    case 'phases': {
      const phaseOf = (state: RunState): string =>
        gate.moves.findLast(({ after }) => toolUse(state, after).run.ok > 0)?.to ?? gate.start;
      return phases(gate.phases, phaseOf, { ...called, ...(gate.others ? { others: gate.others } : {}) });
    }
  }
}

function stopOf(stop: DeclaredStop): StopRule {
  const made = madeStop(stop);
  return stop.name === undefined ? made : { ...made, name: stop.name };
}

function madeStop(stop: DeclaredStop): StopRule {
  switch (stop.type) {
    case 'turns':
      return turnLimit(stop.most);
    case 'tokens':
      return tokenBudget(stop.most);
    case 'usd':
      return moneyBudget(stop.most);
    case 'minutes':
      return timeLimit(stop.most * 60_000);
    case 'context':
      return contextOver(stop.most ?? { share: (stop.percent ?? 100) / 100 });
    case 'errors':
      return errorThreshold(stop.most, stop.tool);
    case 'stuck':
      return stuck(stop.times);
    case 'answer':
      return expectedOutput(stop.contains);
    case 'complete':
      return taskComplete((state) => holds(stop.when, { state }), stop.detail);
    case 'when':
      return stopWhen(stop.name ?? 'when', (state) => holds(stop.when, { state }) && (stop.detail ?? true));
    case 'any':
      return anyOf(...stop.of.map(stopOf));
    case 'all':
      return allOf(...stop.of.map(stopOf));
  }
}
