// Compiles declarative rules (data) to gates, reminders and stop conditions. Returns errors in the data, one sentence each.
import {
  FairleadError,
  isObject,
  closestMatches,
  type ToolCall,
  type JsonObject,
  type RunState,
} from '../../core/index.ts';
import { confirm } from '../gates/confirm.ts';
import { defineGate, type GateRule } from '../gates/gate-rule.ts';
import { exclusive, phases, requireOrder } from '../gates/order.ts';
import { rateLimit } from '../gates/rate-limit.ts';
import { readBeforeEdit } from '../gates/read-before-edit.ts';
import { extractPath } from '../session-stats/file-uses.ts';
import { toolStats } from '../session-stats/selectors.ts';
import { sessionStats } from '../session-stats/view.ts';
import { builtInReminders, builtInReminderTable } from '../reminders/built-in.ts';
import { reminderErrors, type ReminderContext, type ReminderDefinition } from '../reminders/definition.ts';
import { allOf, anyOf } from '../stop-conditions/combined.ts';
import {
  contextLimit,
  errorThreshold,
  expectedOutput,
  moneyBudget,
  stopWhen,
  stuckLoop,
  taskComplete,
  timeLimit,
  tokenBudget,
  turnLimit,
  type StopRule,
} from '../stop-conditions/stop-conditions.ts';
import {
  conditionSchema,
  fillTemplate,
  evaluateCondition,
  type Condition,
  type ConditionSubject,
} from './conditions.ts';
import {
  rulesDataSchema,
  stopDataSchema,
  type DeclaredGate,
  type DeclaredReminder,
  type DeclaredRules,
  type DeclaredStop,
} from './rule-file-types.ts';
import type { RuleSet } from './rule-set.ts';

/** Returns the JSON Schema of declarative rules, for editors. */
export const rulesSchema = (): JsonObject => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Fairlead rules',
  ...rulesDataSchema.schema,
  $defs: { condition: conditionSchema.schema, stop: stopDataSchema.schema },
});

/** Returns the errors in declarative rules, one sentence each; empty if they can be compiled. */
export function validateRules(data: unknown): readonly string[] {
  const errors = rulesDataSchema.validate(data, 'rules');
  if (errors.length > 0) return errors;
  const { reminders = [], builtIn = false, gates = [] } = data as DeclaredRules;
  return [
    ...reminders.flatMap((each, i) =>
      reminderErrors(compileReminder(each)).map((why) => `rules.reminders[${i}]: ${why}`),
    ),
    ...(typeof builtIn === 'boolean' ? [] : Object.keys(builtIn).flatMap(unknownBuiltInErrors)),
    ...gates.flatMap((each, i) => gateErrors(each).map((why) => `rules.gates[${i}] ${why}`)),
  ];
}

function unknownBuiltInErrors(name: string): readonly string[] {
  if (Object.hasOwn(builtInReminderTable, name)) return [];
  const [closest] = closestMatches(name, Object.keys(builtInReminderTable));
  return [
    `rules.builtIn: there is no reminder named "${name}"${closest === undefined ? '' : `; did you mean "${closest}"`}.`,
  ];
}

function gateErrors(gate: DeclaredGate): readonly string[] {
  if ((gate.type === 'confirm' || gate.type === 'deny') && !gate.tools && !gate.when)
    return ['needs `tools`, `when`, or both: otherwise it would stop every call.'];
  if (gate.type !== 'phases') return [];
  const unknownPhases = [gate.start, ...gate.moves.map(({ to }) => to)].filter(
    (name) => !Object.hasOwn(gate.phases, name),
  );
  return unknownPhases.map((name) => `names the phase "${name}", which it does not have.`);
}

/** Compiles declarative rules to a rule set. Throws if they are invalid. */
export function compileRules(data: unknown): RuleSet {
  const errors = validateRules(data);
  if (errors.length > 0)
    throw new FairleadError('rules/bad-rules', `The rules cannot be used: ${errors.slice(0, 8).join(' ')}`, {
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
  const builtInDefinitions = builtIn === false ? [] : builtInReminders(builtIn === true ? {} : builtIn);
  return {
    name,
    reminders: [...builtInDefinitions, ...reminders.map(compileReminder)],
    gates: gates.map(compileGate),
    stops: stops.map(compileStop),
    renderers,
    examples,
  };
}

const toConditionSubject = ({ state, event, call }: ReminderContext): ConditionSubject => ({ state, event, call });

function compileReminder({ when, message, ...rest }: DeclaredReminder): ReminderDefinition {
  return {
    ...rest,
    message: message.includes('{') ? (context) => fillTemplate(message, toConditionSubject(context)) : message,
    ...(when ? { when: (context: ReminderContext) => evaluateCondition(when, toConditionSubject(context)) } : {}),
  };
}

const createCallFilter =
  (tools: readonly string[] | undefined, when: Condition | undefined) =>
  (call: ToolCall, state: RunState): boolean =>
    (!tools || tools.includes(call.tool)) &&
    (!when || splitCallByFile(call).some((each) => evaluateCondition(when, { state, call: each })));

/** Splits a call that names several files into one call per file: what is denied for one file is denied for the call. */
function splitCallByFile(call: ToolCall): readonly ToolCall[] {
  const { input } = call;
  if (!isObject(input) || !Array.isArray(input['paths']) || input['paths'].length === 0) return [call];
  const each = input['paths'].map((path): ToolCall => ({ ...call, input: { ...input, path } }));
  return extractPath(input) === undefined ? each : [call, ...each];
}

function compileGate(gate: DeclaredGate): GateRule {
  const rule = createGateRule(gate);
  return gate.examples ? { ...rule, examples: gate.examples } : rule;
}

function createGateRule(gate: DeclaredGate): GateRule {
  const nameOption = gate.name === undefined ? {} : { name: gate.name };
  switch (gate.type) {
    case 'read-before-edit':
      return readBeforeEdit(gate);
    case 'rate-limit':
      return rateLimit(gate);
    case 'order':
      return requireOrder(gate.tools, { ...nameOption, ...(gate.per ? { per: gate.per } : {}) });
    case 'exclusive':
      return exclusive(gate.tools, { ...nameOption, ...(gate.per ? { per: gate.per } : {}) });
    case 'confirm': {
      const { question, tools, when } = gate;
      const questionOption =
        question === undefined
          ? {}
          : { question: (call: ToolCall) => `${question} (${call.tool} ${JSON.stringify(call.input)})` };
      const which = tools && !when ? tools : createCallFilter(tools, when);
      return { ...confirm({ ...nameOption, which, ...questionOption }), views: [sessionStats] };
    }
    case 'deny': {
      const isDenied = createCallFilter(gate.tools, gate.when);
      const { name = 'deny', reason } = gate;
      return defineGate({
        name,
        description: reason,
        views: [sessionStats],
        decide: (call, state) => (isDenied(call, state) ? { deny: reason } : undefined),
      });
    }
    case 'phases': {
      const phaseOf = (state: RunState): string =>
        gate.moves.findLast(({ after }) => toolStats(state, after).run.ok > 0)?.to ?? gate.start;
      return phases(gate.phases, phaseOf, { ...nameOption, ...(gate.others ? { others: gate.others } : {}) });
    }
  }
}

function compileStop(stop: DeclaredStop): StopRule {
  const rule = createStopFrom(stop);
  return stop.name === undefined ? rule : { ...rule, name: stop.name };
}

function createStopFrom(stop: DeclaredStop): StopRule {
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
      return contextLimit(stop.most ?? { share: (stop.percent ?? 100) / 100 });
    case 'errors':
      return errorThreshold(stop.most, stop.tool);
    case 'stuck':
      return stuckLoop(stop.times);
    case 'answer':
      return expectedOutput(stop.contains);
    case 'complete':
      return taskComplete((state) => evaluateCondition(stop.when, { state }), stop.detail);
    case 'when':
      return stopWhen(stop.name ?? 'when', (state) => evaluateCondition(stop.when, { state }) && (stop.detail ?? true));
    case 'any':
      return anyOf(...stop.of.map(compileStop));
    case 'all':
      return allOf(...stop.of.map(compileStop));
  }
}
