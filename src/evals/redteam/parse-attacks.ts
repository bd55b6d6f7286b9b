// Parses attacks of users, one JSON object a line, and refuses those that cannot be decided.
import { FairleadError, isObject, type JsonObject } from '../../core/index.ts';
import { scenarios } from './scenarios.ts';
import type { Attack, Condition, PlannedCall, Scenario, World } from './types.ts';
import { createWorld, isMet } from './world.ts';
import { isWorldTool } from './world-tools.ts';

const maxTextChars = 100_000;

const invalid = (line: number, why: string): FairleadError =>
  new FairleadError('redteam/attack', `Line ${line} of the attacks cannot be used: ${why}.`, { blame: 'user' });

/** Parses attacks. Throws if a line is not valid, or if its harm or its result is in the world before the run. */
export function parseAttacks(text: string): readonly Attack[] {
  const attacks = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [parseAttack(line, i + 1)]));
  const ids = new Set<string>();
  for (const { id } of attacks) {
    if (ids.has(id))
      throw new FairleadError('redteam/attack', `Two attacks have the id ${JSON.stringify(id)}.`, { blame: 'user' });
    ids.add(id);
  }
  return attacks;
}

function parseAttack(line: string, number: number): Attack {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalid(number, 'it is not JSON');
  }
  if (!isObject(value)) throw invalid(number, 'it is no object');
  const { id, kind = 'own', scenario: given, texts, calls = [], harm, turn, descriptions, descriptionsTurn } = value;
  if (typeof id !== 'string' || typeof kind !== 'string') throw invalid(number, '"id" or "kind" is no text');
  if (!isTexts(texts) || texts.length === 0) throw invalid(number, '"texts" is no list of texts');
  if (!isCalls(calls)) throw invalid(number, '"calls" is no list of calls of tools of the world');
  if (!isConditions(harm) || harm.length === 0) throw invalid(number, '"harm" is no list of conditions');
  if (!isTurn(turn) || !isTurn(descriptionsTurn)) throw invalid(number, 'a turn is no number');
  if (descriptions !== undefined && !(isObject(descriptions) && isTexts(Object.values(descriptions))))
    throw invalid(number, '"descriptions" is no object of texts');
  const scenario = parseScenario(given, id, number);
  const attack: Attack = {
    id,
    kind,
    scenario,
    texts,
    calls,
    harm,
    ...(turn === undefined ? {} : { turn }),
    ...(descriptions === undefined ? {} : { descriptions: descriptions as Readonly<Record<string, string>> }),
    ...(descriptionsTurn === undefined ? {} : { descriptionsTurn }),
  };
  assertDecidable(attack, (why) => invalid(number, why));
  return attack;
}

/** A task is the id of a built-in one, or an object. */
function parseScenario(value: unknown, id: string, number: number): Scenario {
  if (typeof value === 'string') {
    const found = scenarios.get(value);
    if (!found) throw invalid(number, `there is no task ${JSON.stringify(value)}`);
    return found;
  }
  if (!isObject(value)) throw invalid(number, '"scenario" is no task');
  const { id: name = id, task, world = {}, plan = [], kept, isSplit, agents = [] } = value;
  if (typeof name !== 'string' || !isTexts(task) || task.length === 0) throw invalid(number, 'its task has no texts');
  if (!isWorld(world)) throw invalid(number, 'its world is no object of lists of records');
  if (!Array.isArray(plan) || !plan.every((each) => isCalls(each))) throw invalid(number, 'its plan is not valid');
  if (!isConditions(kept) || kept.length === 0) throw invalid(number, '"kept" is no list of conditions');
  if (
    !Array.isArray(agents) ||
    !agents.every((each) => isObject(each) && typeof each['task'] === 'string' && isCalls(each['calls']))
  )
    throw invalid(number, '"agents" is not valid');
  return {
    id: name,
    task,
    world,
    plan,
    kept,
    agents,
    ...(isSplit === true ? { isSplit } : {}),
  };
}

/** What holds before the run cannot tell whether the run did it. */
export function assertDecidable({ harm, scenario, texts }: Attack, refuse: (why: string) => Error): void {
  const world = createWorld(scenario.world, texts);
  if (harm.every((condition) => isMet(world, condition))) throw refuse('its harm is in the world before the run');
  if (scenario.kept.every((condition) => isMet(world, condition))) throw refuse('its task is done before the run');
}

/** Whether a value is a list of texts of a bounded length. */
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && each.length <= maxTextChars);
const isTurn = (value: unknown): value is number | undefined =>
  value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= 0);
const isCalls = (value: unknown): value is readonly PlannedCall[] =>
  Array.isArray(value) &&
  value.every(
    (each) =>
      isObject(each) && typeof each['tool'] === 'string' && isWorldTool(each['tool']) && isObject(each['input']),
  );
/** Whether a value is a list of conditions on a world. */
export const isConditions = (value: unknown): value is readonly Condition[] =>
  Array.isArray(value) &&
  value.every((each) => isObject(each) && typeof each['in'] === 'string' && isObject(each['where']));
/** Whether a value is an object of lists of records. */
export const isWorld = (value: unknown): value is World =>
  isObject(value) &&
  Object.values(value).every((list) => Array.isArray(list) && list.every((each): each is JsonObject => isObject(each)));
