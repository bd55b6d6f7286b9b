// Parses declarations of tools for the flow policy: what each tool does, the role of its parameters, and how far its output can be trusted.
import { FairleadError, isObject } from '../../core/index.ts';
import {
  contentRoles,
  controlRoles,
  type FlowDeclarations,
  type OutputDeclaration,
  type ParameterRole,
  type ToolDeclaration,
} from './types.ts';

const roles: ReadonlySet<string> = new Set([...controlRoles, ...contentRoles]);
const effects: ReadonlySet<string> = new Set(['read', 'write', 'external', 'confirm']);
const maxActionChars = 5000;

/** Parses a declarations file: `{ tools: { name: declaration }, actions: { name: "word|word" } }`. Throws if it is invalid. */
export function parseDeclarations(value: unknown): FlowDeclarations {
  if (!isObject(value) || !isObject(value['tools'])) throw invalid('it has no object "tools"');
  const actions = isObject(value['actions']) ? value['actions'] : {};
  return {
    tools: new Map(Object.entries(value['tools']).map(([name, each]) => [name, parseTool(name, each)])),
    actions: new Map(Object.entries(actions).map(([name, words]) => [name, compileWords(name, words)])),
  };
}

const invalid = (why: string): FairleadError =>
  new FairleadError('guards/declarations', `The declarations of tools cannot be used: ${why}.`, { blame: 'user' });

function parseTool(name: string, value: unknown): ToolDeclaration {
  if (!isObject(value)) throw invalid(`"${name}" is no object`);
  const { effect, action, destructive, inputs = {}, output, private: isPrivate } = value;
  if (typeof effect !== 'string' || !effects.has(effect)) throw invalid(`"${name}" has no valid "effect"`);
  if (action !== undefined && typeof action !== 'string') throw invalid(`the action of "${name}" is no text`);
  if (!isObject(inputs)) throw invalid(`the inputs of "${name}" are no object`);
  for (const [parameter, role] of Object.entries(inputs))
    if (typeof role !== 'string' || !roles.has(role))
      throw invalid(`the parameter ${parameter} of "${name}" has no valid role`);
  return {
    effect: effect as ToolDeclaration['effect'],
    ...(action === undefined ? {} : { action }),
    ...(destructive === true ? { destructive } : {}),
    inputs: inputs as Record<string, ParameterRole>,
    output: parseOutput(name, output),
    ...(typeof isPrivate === 'boolean' ? { private: isPrivate } : {}),
  };
}

/** Output that is not declared is untrusted. */
function parseOutput(name: string, output: unknown): OutputDeclaration {
  if (output === undefined || output === 'untrusted') return 'untrusted';
  if (output === 'trusted' || output === 'user' || output === 'none') return output;
  const { untrusted = [], identity = [], trusted } = isObject(output) ? output : { untrusted: null };
  if (!isNames(untrusted) || !isNames(identity) || (trusted !== undefined && !isNames(trusted)))
    throw invalid(`the output of "${name}" is not valid`);
  return { untrusted, identity, ...(trusted ? { trusted } : {}) };
}

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** The words of an action: alternatives that begin at a word, such as `pay|transfer|send money`. */
function compileWords(name: string, words: unknown): RegExp {
  if (typeof words !== 'string' || words.length > maxActionChars)
    throw invalid(`the words of the action "${name}" are no text`);
  try {
    return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words})`, 'iu');
  } catch {
    throw invalid(`the words of the action "${name}" are no valid pattern`);
  }
}
