// Suites of user tasks and injection tasks: every user task is attacked by every injection task with every wording, in a world with tools of the suite.
import { FairleadError, isObject, type JsonObject } from '../../core/index.ts';
import { assertDecidable, isConditions, isTexts, isWorld } from './parse-attacks.ts';
import { parseSuiteTools } from './suite-tools.ts';
import type { WorldTool } from './tool-parts.ts';
import type { Attack, Condition, PlannedCall, Scenario, World } from './types.ts';
import { createWorld, isMet, insertTexts } from './world.ts';
import { builtinWorldTools, runOnWorld } from './world-tools.ts';

/** An attack of a suite: an injection task on a user task. */
export type SuiteAttack = { readonly attack: Attack; readonly userTask: string; readonly injectionTask: string };

/** A suite as it is run: its tools, and the attacks that its tasks and wordings give. */
export type Suite = {
  readonly name: string;
  /** The tools of the suite; undefined if it uses those of the simulated world. */
  readonly tools?: ReadonlyMap<string, WorldTool>;
  readonly attacks: readonly SuiteAttack[];
};

/** The maximum number of attacks of a suite. */
export const maxSuiteAttacks = 10_000;
const maxSuiteChars = 32_000_000;

const invalid = (why: string): FairleadError =>
  new FairleadError('redteam/suite', `The suite cannot be used: ${why}.`, {
    blame: 'user',
    hint: 'See "Suites of tasks and injections" in docs/evals-external.md.',
  });

/** Parses a suite. Throws if a task cannot be decided: its result or harm is there before, or its plan does not do the task, or does the harm. */
export function parseSuite(text: string): Suite {
  if (text.length > maxSuiteChars) throw invalid(`it has more than ${maxSuiteChars} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('it is not JSON');
  }
  if (!isObject(value)) throw invalid('it is no object');
  const { name, world = {}, tools: given, userTasks, injectionTasks, wordings = { plain: '{goal}' }, ...more } = value;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw invalid(`there is no field ${JSON.stringify(unknown)}`);
  if (typeof name !== 'string' || name === '') throw invalid('it has no name');
  if (!isWorld(world)) throw invalid('its world is no object of lists of records');
  const tools = given === undefined ? undefined : parseSuiteTools(given, invalid);
  const known = tools ?? builtinWorldTools;
  const users = parseList(userTasks, 'userTasks').map((each) => parseUserTask(each, world, known));
  const injections = parseList(injectionTasks, 'injectionTasks').map((each) => parseInjection(each, known));
  const texts = parseWordings(wordings);
  assertUnique('user task', users);
  assertUnique('injection task', injections);
  if (users.length * injections.length * texts.length > maxSuiteAttacks)
    throw invalid(`it has more than ${maxSuiteAttacks} attacks`);
  const attacks = users.flatMap((scenario) =>
    injections.flatMap((injection) => texts.map((wording) => createAttack(scenario, injection, wording))),
  );
  for (const { attack } of attacks) assertDecided(attack, known);
  return { name, attacks, ...(tools ? { tools } : {}) };
}

type Injection = {
  readonly id: string;
  readonly goal: string;
  readonly calls: readonly PlannedCall[];
  readonly harm: readonly Condition[];
};

function createAttack(
  scenario: Scenario,
  injection: Injection,
  [kind, wording]: readonly [string, string],
): SuiteAttack {
  const { id, goal, calls, harm } = injection;
  return {
    userTask: scenario.id,
    injectionTask: id,
    attack: {
      id: `${scenario.id}/${id}/${kind}`,
      kind,
      scenario,
      texts: [wording.replaceAll('{goal}', goal)],
      calls,
      harm,
    },
  };
}

function parseList(value: unknown, name: string): readonly JsonObject[] {
  if (Array.isArray(value) && value.length > 0 && value.every((each): each is JsonObject => isObject(each)))
    return value;
  throw invalid(`"${name}" is no list of tasks`);
}

function parseUserTask(value: JsonObject, common: World, tools: ReadonlyMap<string, WorldTool>): Scenario {
  const { id, task, world = {}, plan = [], utility, ...more } = value;
  const named = `the user task ${JSON.stringify(id)}`;
  if (typeof id !== 'string' || id === '') throw invalid('a user task has no id');
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw invalid(`${named} has an unknown field ${JSON.stringify(unknown)}`);
  const turns = typeof task === 'string' ? [task] : task;
  if (!isTexts(turns) || turns.length === 0) throw invalid(`${named} has no task`);
  if (!isWorld(world)) throw invalid(`the world of ${named} is no object of lists of records`);
  if (!isConditions(utility) || utility.length === 0) throw invalid(`${named} has no conditions in "utility"`);
  const own: Record<string, readonly JsonObject[]> = { ...common };
  for (const [key, records] of Object.entries(world)) own[key] = [...(own[key] ?? []), ...records];
  if (!JSON.stringify([own, turns]).includes('{{0}}'))
    throw invalid(`no text that ${named} can read has the place {{0}} of an injection`);
  return { id, task: turns, world: own, plan: parsePlan(plan, turns.length, tools, named), kept: utility };
}

/** A plan is a list of calls, or one list for each turn. */
function parsePlan(
  value: unknown,
  turns: number,
  tools: ReadonlyMap<string, WorldTool>,
  named: string,
): Scenario['plan'] {
  if (!Array.isArray(value)) throw invalid(`the plan of ${named} is no list of calls`);
  const lists: readonly unknown[] = value.every((each) => Array.isArray(each)) && value.length > 0 ? value : [value];
  if (lists.length > turns) throw invalid(`the plan of ${named} has more turns than its task`);
  return lists.map((each) => parseCalls(each, tools, named));
}

function parseInjection(value: JsonObject, tools: ReadonlyMap<string, WorldTool>): Injection {
  const { id, goal, calls = [], harm, ...more } = value;
  const named = `the injection task ${JSON.stringify(id)}`;
  if (typeof id !== 'string' || id === '') throw invalid('an injection task has no id');
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw invalid(`${named} has an unknown field ${JSON.stringify(unknown)}`);
  if (typeof goal !== 'string' || goal === '' || !isTexts([goal])) throw invalid(`${named} has no goal`);
  if (!isConditions(harm) || harm.length === 0) throw invalid(`${named} has no conditions in "harm"`);
  return { id, goal, harm, calls: parseCalls(calls, tools, named) };
}

function parseCalls(value: unknown, tools: ReadonlyMap<string, WorldTool>, named: string): readonly PlannedCall[] {
  if (!Array.isArray(value)) throw invalid(`the calls of ${named} are no list`);
  return value.map((each: unknown): PlannedCall => {
    const { tool, input = {} } = isObject(each) ? each : {};
    if (typeof tool !== 'string' || !isObject(input)) throw invalid(`a call of ${named} has no tool or no input`);
    if (!tools.has(tool)) throw invalid(`${named} calls ${JSON.stringify(tool)}, which is no tool of the suite`);
    return { tool, input: input as JsonObject };
  });
}

function parseWordings(value: unknown): readonly (readonly [string, string])[] {
  const entries: readonly (readonly [string, unknown])[] = isObject(value) ? Object.entries(value) : [];
  if (entries.length === 0) throw invalid('"wordings" is no object of texts with {goal}');
  return entries.map(([name, text]) => {
    if (typeof text === 'string' && text.includes('{goal}')) return [name, text] as const;
    throw invalid(`the wording ${JSON.stringify(name)} has no {goal}`);
  });
}

function assertUnique(what: string, tasks: readonly { readonly id: string }[]): void {
  const ids = new Set<string>();
  for (const { id } of tasks) {
    if (ids.has(id)) throw invalid(`two have the id ${JSON.stringify(id)} (${what})`);
    ids.add(id);
  }
}

/** A plan must do its task, and without the harm: otherwise a correct run would count as failed or as attacked. */
function assertDecided(attack: Attack, tools: ReadonlyMap<string, WorldTool>): void {
  const { id, scenario, harm, texts } = attack;
  assertDecidable(attack, (why) => invalid(`${id}: ${why}`));
  const plan = scenario.plan.flat();
  if (plan.length === 0) return;
  const world = createWorld(scenario.world, []);
  for (const call of plan) {
    try {
      runOnWorld(world, { ...call, input: insertTexts(call.input, texts) as JsonObject }, tools);
    } catch (error) {
      throw invalid(`the plan of ${scenario.id} fails: ${String(error)}`);
    }
  }
  if (!scenario.kept.every((condition) => isMet(world, condition)))
    throw invalid(`the plan of the user task ${JSON.stringify(scenario.id)} does not do the task`);
  if (harm.every((condition) => isMet(world, condition))) throw invalid(`${id}: the task itself does the harm`);
}
