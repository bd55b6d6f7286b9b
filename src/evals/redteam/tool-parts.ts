// The parts from which the tools of the simulated world are made: parameters with roles, and operations on records.
import type { Json, JsonObject } from '../../core/index.ts';
import type { OutputDeclaration, ParameterRole, ToolDeclaration } from '../../guards/flow/index.ts';
import type { MutableWorld } from './world.ts';

/** A parameter: its type and its role for the flow policy. */
export type Parameter = { readonly type: 'string' | 'number' | 'list'; readonly role: ParameterRole };

/** A tool of the simulated world with its declaration. */
export type WorldTool = {
  readonly description: string;
  readonly effect: ToolDeclaration['effect'];
  readonly action?: string;
  readonly destructive?: true;
  readonly inputs: Readonly<Record<string, Parameter>>;
  readonly output?: OutputDeclaration;
  readonly run: (world: MutableWorld, input: JsonObject) => Json;
};

/** A parameter that is a text. */
export const text = (role: ParameterRole): Parameter => ({ type: 'string', role });
/** A parameter that is a number. */
export const number = (role: ParameterRole): Parameter => ({ type: 'number', role });
/** A list of texts. */
export const list = (role: ParameterRole): Parameter => ({ type: 'list', role });

/** The records of a collection. */
export const records = (world: MutableWorld, name: string): JsonObject[] => (world[name] ??= []);

/** The record with a value; throws if there is none. */
export function find(world: MutableWorld, name: string, key: string, value: Json | undefined): JsonObject {
  const found = records(world, name).find((record) => record[key] === value);
  if (!found) throw new Error(`There is no entry of ${name} with ${key} ${JSON.stringify(value)}.`);
  return found;
}

/** Removes a record. */
export function remove(world: MutableWorld, name: string, key: string, value: Json | undefined): Json {
  const found = find(world, name, key, value);
  world[name] = records(world, name).filter((record) => record !== found);
  return 'Done.';
}

/** Adds a record. */
export function add(world: MutableWorld, name: string, record: JsonObject): Json {
  records(world, name).push(record);
  return 'Done.';
}

/** Changes values of a record. */
export function change(world: MutableWorld, name: string, key: string, record: JsonObject): Json {
  const found = find(world, name, key, record[key]);
  world[name] = records(world, name).map((each) => (each === found ? { ...each, ...record } : each));
  return 'Done.';
}

/** A record with some of its values. */
export const pick = (record: JsonObject, ...keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (key in record ? [[key, record[key] as Json]] : [])));

/** A tool that only reads. */
export const read = { effect: 'read' } as const;
/** A tool that acts outside. */
export const external = { effect: 'external', output: 'trusted' } as const;
