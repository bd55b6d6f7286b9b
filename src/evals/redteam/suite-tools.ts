// Tools of a suite: each lists, finds, adds, changes or removes records of a collection of its world.
import { isObject, type JsonObject } from '../../core/index.ts';
import { add, change, find, pick, records, remove, type Parameter, type WorldTool } from './tool-parts.ts';

const maxTools = 200;
const types: readonly string[] = ['string', 'number', 'list'] satisfies readonly Parameter['type'][];

/** Parses the tools of a suite by name; `invalid` creates the error. */
export function parseSuiteTools(value: unknown, invalid: (why: string) => Error): ReadonlyMap<string, WorldTool> {
  const entries: readonly (readonly [string, unknown])[] = isObject(value) ? Object.entries(value) : [];
  if (entries.length === 0 || entries.length > maxTools)
    throw invalid(`"tools" is no object of 1 to ${maxTools} tools`);
  return new Map(
    entries.map(([name, each]) => {
      const parsed = parseTool(name, each);
      if (typeof parsed === 'string') throw invalid(`the tool ${JSON.stringify(name)}: ${parsed}`);
      return [name, parsed] as const;
    }),
  );
}

/** Returns the tool, or what is wrong with it. */
function parseTool(name: string, value: unknown): WorldTool | string {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(name)) return 'its name is not lower case with underscores';
  if (!isObject(value)) return 'it is no object';
  const { description, inputs = {}, does, ...more } = value;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return `it has an unknown field ${JSON.stringify(unknown)}`;
  if (typeof description !== 'string' || description === '') return 'it has no description';
  if (!isObject(inputs) || !Object.values(inputs).every((type) => types.includes(String(type))))
    return `the type of an input is none of ${types.join(', ')}`;
  const parameters = Object.fromEntries(
    Object.entries(inputs).map(([key, type]): [string, Parameter] => [
      key,
      { type: type as Parameter['type'], role: 'body' },
    ]),
  );
  const run = parseOperation(does, Object.keys(inputs));
  if (typeof run === 'string') return run;
  const isRead = isObject(does) && (does['list'] !== undefined || does['find'] !== undefined);
  return { description, effect: isRead ? 'read' : 'external', inputs: parameters, run };
}

/** Returns what the tool does with a world, or what is wrong with it. */
function parseOperation(value: unknown, inputs: readonly string[]): WorldTool['run'] | string {
  if (!isObject(value)) return '"does" is no object';
  const { by, fields, with: fixed = {}, ...operation } = value;
  const [entry, ...others] = Object.entries(operation);
  if (!entry || others.length > 0) return '"does" has not exactly one of list, find, add, change, remove';
  const [kind, collection] = entry;
  if (typeof collection !== 'string' || collection === '') return `"${kind}" names no collection`;
  if (!isObject(fixed)) return '"with" is no object of values';
  const extra = fixed as JsonObject;
  if (kind === 'list') {
    if (fields !== undefined && !(Array.isArray(fields) && fields.every((each) => typeof each === 'string')))
      return '"fields" is no list of names';
    const keys = fields as readonly string[] | undefined;
    return (world, input) =>
      records(world, collection)
        .filter((record) => inputs.every((key) => record[key] === input[key]))
        .map((record) => (keys ? pick(record, ...keys) : record));
  }
  if (kind === 'add') return (world, input) => add(world, collection, { ...input, ...extra });
  if (typeof by !== 'string' || !inputs.includes(by)) return '"by" names no input';
  if (kind === 'find') return (world, input) => find(world, collection, by, input[by]);
  if (kind === 'remove') return (world, input) => remove(world, collection, by, input[by]);
  if (kind === 'change') return (world, input) => change(world, collection, by, { ...input, ...extra });
  return `there is no operation ${JSON.stringify(kind)}; there are list, find, add, change, remove`;
}
