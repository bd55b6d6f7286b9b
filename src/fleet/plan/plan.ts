// The plan that a model writes: the steps, their JSON Schema, and the parser that lists everything that is wrong with a plan.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';
import { findGraphErrors } from './graph.ts';

/** The limits that a step asks for; each at most that of the run that plans. */
export type StepLimits = { readonly usd?: number; readonly tokens?: number; readonly turns?: number };

/** One step of a plan. */
export type PlanStep = {
  readonly id: string;
  /** The task of the step, complete in itself. */
  readonly task: string;
  /** The steps whose results it needs. */
  readonly after: readonly string[];
  /** Its result is verified before other steps read it. */
  readonly verify?: true;
  /** The only tools that it may call; all tools of the run if it is absent. */
  readonly tools?: readonly string[];
  /** The agent that does it; the agent of the run if it is absent. */
  readonly agent?: string;
  /** Whether it makes changes without approval; as the run does if it is absent. */
  readonly auto?: boolean;
  readonly limits?: StepLimits;
};

/** What a plan is checked against: what exists, what the run may do, and how large a plan may be. */
export type PlanBounds = {
  /** The tools that exist; not checked if it is absent. */
  readonly tools?: readonly string[];
  /** The agents that exist. */
  readonly agents: readonly string[];
  /** Whether the run itself makes changes without approval. */
  readonly auto: boolean;
  /** The limits of the run itself. */
  readonly limits: StepLimits;
  readonly maxSteps: number;
  readonly maxDepth: number;
  /** The ids of earlier steps that are done: later steps may depend on them. */
  readonly done?: readonly string[];
  /** All ids that are used already. */
  readonly used?: readonly string[];
};

const idPattern = /^[a-z0-9-]{1,40}$/;
const maxTaskChars = 20_000;
const limitNames = ['usd', 'tokens', 'turns'] as const;
const stepFields: readonly string[] = ['id', 'task', 'after', 'verify', 'tools', 'agent', 'auto', 'limits'];
/** Names in a list of a step, and characters of each: a plan is in the log and in prompts. */
const maxNames = 1000;
const maxNameChars = 200;
const maxErrors = 20;

/** Returns the JSON Schema of a plan; it offers only what exists. An empty plan is valid only where earlier steps are done. */
export const createPlanSchema = ({ tools, agents, maxSteps, done = [] }: PlanBounds): JsonObject => ({
  type: 'object',
  properties: {
    steps: {
      type: 'array',
      ...(done.length > 0 ? {} : { minItems: 1 }),
      maxItems: maxSteps,
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', pattern: idPattern.source },
          task: { type: 'string', minLength: 1, description: 'the task of the step, complete in itself' },
          after: {
            type: 'array',
            items: { type: 'string' },
            description: 'the ids of the steps whose results it needs',
          },
          verify: { type: 'boolean', description: 'whether its result is verified before other steps use it' },
          ...(tools !== undefined && tools.length > 0
            ? {
                tools: {
                  type: 'array',
                  items: { type: 'string' },
                  description: 'the only tools that it may call; all tools if it is absent',
                },
              }
            : {}),
          ...(agents.length > 0 ? { agent: { type: 'string', enum: [...agents] } } : {}),
        },
        required: ['id', 'task', 'after'],
        additionalProperties: false,
      },
    },
  },
  required: ['steps'],
  additionalProperties: false,
});

/** The result of parsing a plan: its steps, or everything that is wrong with it. */
export type ParsedPlan = { readonly steps: readonly PlanStep[] } | { readonly errors: readonly string[] };

/** Parses a plan and checks it: fields, ids, dependencies, cycles, tools, agents, authority and size. */
export function parsePlan(value: Json, bounds: PlanBounds): ParsedPlan {
  const given = isObject(value) ? value['steps'] : undefined;
  if (!Array.isArray(given) || (given.length === 0 && (bounds.done ?? []).length === 0))
    return { errors: ['A plan needs a list of steps.'] };
  if (given.length > bounds.maxSteps)
    return { errors: [`The plan has ${given.length} steps; at most ${bounds.maxSteps} are allowed.`] };
  const errors: string[] = [];
  const steps: PlanStep[] = [];
  for (const [i, each] of (given as readonly Json[]).entries()) {
    const step = parseStep(each, i, bounds, errors);
    if (!step) continue;
    if (steps.some(({ id }) => id === step.id)) errors.push(`Two steps have the id ${step.id}.`);
    else if ((bounds.used ?? []).includes(step.id)) errors.push(`The id ${step.id} was used by an earlier step.`);
    else steps.push(step);
  }
  if (errors.length === 0) errors.push(...findGraphErrors(steps, bounds.done ?? [], bounds.maxDepth));
  return errors.length > 0 ? { errors: errors.slice(0, maxErrors) } : { steps };
}

/** Returns a step; undefined after the reason was added to the errors. */
function parseStep(value: Json, index: number, bounds: PlanBounds, errors: string[]): PlanStep | undefined {
  const before = errors.length;
  // `words` is the former name of `task`.
  const { words, ...given } = isObject(value) ? value : {};
  const fields: JsonObject = words === undefined ? given : { task: words, ...given };
  const { id, task, after = [], verify, tools, agent, auto, limits } = fields;
  if (typeof id !== 'string' || !idPattern.test(id)) {
    errors.push(`Step ${index + 1} needs an id of at most 40 lower-case letters, digits and dashes.`);
    return undefined;
  }
  const say = (problem: string): void => void errors.push(`The step ${id} ${problem}.`);
  for (const name of Object.keys(fields))
    if (!stepFields.includes(name)) say(`has the unknown field ${name.slice(0, 40)}`);
  if (typeof task !== 'string' || task.trim() === '') say('has no task');
  else if (task.length > maxTaskChars) say(`has a task of more than ${maxTaskChars} characters`);
  const names = parseNames(after);
  if (!names) say(`has a field after that is not a list of at most ${maxNames} ids`);
  const toolNames = tools === undefined ? undefined : parseNames(tools);
  if (tools !== undefined && !toolNames) say(`has a field tools that is not a list of at most ${maxNames} names`);
  for (const name of toolNames ?? [])
    if (bounds.tools && !bounds.tools.includes(name))
      say(`asks for the tool ${name.slice(0, 100)}, which the run does not have`);
  if (agent !== undefined && (typeof agent !== 'string' || !bounds.agents.includes(agent)))
    say(`names an agent that does not exist: ${typeof agent === 'string' ? agent.slice(0, 100) : 'it is not a name'}`);
  if (auto === true && !bounds.auto) say('asks to make changes without approval, which the run may not');
  const own = parseLimits(limits, bounds.limits, say);
  if (errors.length > before || typeof task !== 'string' || !names) return undefined;
  return {
    id,
    task,
    after: names,
    ...(verify === true ? { verify } : {}),
    ...(toolNames ? { tools: toolNames } : {}),
    ...(typeof agent === 'string' ? { agent } : {}),
    ...(typeof auto === 'boolean' ? { auto } : {}),
    ...(own ? { limits: own } : {}),
  };
}

const parseNames = (value: Json | undefined): readonly string[] | undefined =>
  Array.isArray(value) &&
  value.length <= maxNames &&
  value.every((each) => typeof each === 'string' && each.length <= maxNameChars)
    ? [...new Set(value as readonly string[])]
    : undefined;

/** Returns the limits of a step; a step may not have more than the run that plans it. */
function parseLimits(
  value: Json | undefined,
  maximum: StepLimits,
  say: (problem: string) => void,
): StepLimits | undefined {
  if (value === undefined) return undefined;
  const limits: Record<string, number> = {};
  if (!isObject(value)) say('has limits that are not an object');
  for (const [name, amount] of Object.entries(isObject(value) ? value : {})) {
    const known = limitNames.find((each) => each === name);
    const most = known && maximum[known];
    if (!known || typeof amount !== 'number' || amount <= 0) say(`has an invalid limit ${name.slice(0, 40)}`);
    else if (most !== undefined && amount > most) say(`asks for ${amount} ${name}; the run has ${most}`);
    else limits[name] = amount;
  }
  return limits;
}
