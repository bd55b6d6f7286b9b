// A policy: rules that allow, ask or deny by tool, path, command and host, read from data and refused where they are not clear.
import { FairleadError, isObject, type Json } from '../../core/index.ts';

/** What a rule decides; the strictest of all that fit counts. */
export type PolicyEffect = 'allow' | 'ask' | 'deny';

/** What a rule is about. Each thing it names must fit; of several patterns for one thing, one. */
export type PolicyMatcher = {
  /** Names of tools; `*` stands for any letters. */
  readonly tool?: readonly string[];
  /** Paths from the working folder, from `/` or from `~/`, with `*` and `**`. */
  readonly path?: readonly string[];
  /** The first words of a command. */
  readonly command?: readonly (readonly string[])[];
  /** Names of hosts; `*.example.com` for all below one. */
  readonly host?: readonly string[];
};

/** What must and must not fit: a command, a path, an address or a tool, as the rule is about one of them; or a whole call. */
export type PolicyExample = string | { readonly tool: string; readonly input: Json };

/** One rule of a policy. */
export type PolicyRule = {
  readonly effect: PolicyEffect;
  readonly on: PolicyMatcher;
  /** Why, in the words of who wrote it. */
  readonly why?: string;
  /** The file and the place in it, for messages. */
  readonly source: string;
  readonly match: readonly PolicyExample[];
  readonly noMatch: readonly PolicyExample[];
};

/** Rules that count together. */
export type Policy = { readonly rules: readonly PolicyRule[] };

const policyEffects: readonly PolicyEffect[] = ['allow', 'ask', 'deny'];
const matcherFields = ['tool', 'path', 'command', 'host'] as const;

/** Reads rules from data; whatever is not understood is an error, for a rule that is passed over protects nobody. */
export function parsePolicy(data: unknown, file: string): Policy {
  if (!isObject(data)) throw policyError(`${file} is not a policy: it must hold "rules", a list.`);
  assertKnownKeys(data, ['rules'], file);
  const { rules } = data;
  if (!Array.isArray(rules)) throw policyError(`${file} is not a policy: "rules" must be a list.`);
  return { rules: rules.map((rule: unknown, at) => parseRule(rule, `${file}, rule ${at + 1}`)) };
}

function parseRule(data: unknown, source: string): PolicyRule {
  if (!isObject(data)) throw policyError(`${source} must be an object such as { allow: { command: git log } }.`);
  assertKnownKeys(data, [...policyEffects, 'why', 'examples'], source);
  const said = policyEffects.filter((effect) => effect in data);
  const [effect] = said;
  if (effect === undefined || said.length > 1) throw policyError(`${source} must say one of allow, ask and deny.`);
  const { why, examples = {} } = data;
  if (why !== undefined && typeof why !== 'string') throw policyError(`${source}: "why" must be text.`);
  if (!isObject(examples)) throw policyError(`${source}: "examples" must hold "match" and "noMatch".`);
  assertKnownKeys(examples, ['match', 'noMatch'], `${source}, examples`);
  return {
    effect,
    on: parseMatcher(data[effect], source),
    ...(why === undefined ? {} : { why }),
    source,
    match: parseExamples(examples['match'], source),
    noMatch: parseExamples(examples['noMatch'], source),
  };
}

function parseMatcher(data: unknown, source: string): PolicyMatcher {
  if (!isObject(data)) throw policyError(`${source} must name a tool, a path, a command or a host.`);
  assertKnownKeys(data, matcherFields, source);
  const { command, ...rest } = Object.fromEntries(
    matcherFields.flatMap((field) =>
      data[field] === undefined ? [] : [[field, parsePatterns(data[field], field, source)]],
    ),
  ) as Partial<Record<(typeof matcherFields)[number], readonly string[]>>;
  if (command === undefined && Object.keys(rest).length === 0)
    throw policyError(`${source} must name a tool, a path, a command or a host.`);
  return { ...rest, ...(command ? { command: command.map((each) => parseCommandPattern(each, source)) } : {}) };
}

function parsePatterns(value: unknown, field: string, source: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((each) => typeof each === 'string' && each.trim() !== '') as readonly string[];
  if (texts.length === 0 || texts.length !== list.length)
    throw policyError(`${source}: "${field}" must be text, or a list of texts.`);
  return texts;
}

/** A rule names plain words: whatever a shell would read as more than a word would promise what the rule does not do. */
function parseCommandPattern(pattern: string, source: string): readonly string[] {
  const odd = /[|&;<>()$`\\"'*?[\]{}~\n]/.exec(pattern);
  if (odd)
    throw policyError(
      `${source}: a command is given by its first words, and ${JSON.stringify(odd[0])} is no part of a word.`,
    );
  return pattern.trim().split(/\s+/);
}

function parseExamples(data: unknown, source: string): readonly PolicyExample[] {
  if (data === undefined) return [];
  const isExample = (each: unknown): each is PolicyExample =>
    typeof each === 'string' || (isObject(each) && typeof each['tool'] === 'string' && 'input' in each);
  if (Array.isArray(data) && data.every(isExample)) return data;
  throw policyError(`${source}: examples are lists of texts, or of calls { tool, input }.`);
}

function assertKnownKeys(data: Readonly<Record<string, unknown>>, known: readonly string[], source: string): void {
  const odd = Object.keys(data).find((key) => !known.includes(key));
  if (odd !== undefined)
    throw policyError(`${source}: ${JSON.stringify(odd)} is not known; there are ${known.join(', ')}.`);
}

/** A fault in a policy. */
export const policyError = (message: string): FairleadError =>
  new FairleadError('policy/unclear', message, {
    blame: 'user',
    hint: 'Mend the policy, then try it: fairlead policy check',
  });
