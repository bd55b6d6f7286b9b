// Parses a policy: rules that allow, ask or deny by tool, path, command and host. Invalid rules are rejected.
import { FairleadError, isObject, type Json } from '../../core/index.ts';

/** The effect of a rule. The strictest effect of all matching rules wins. */
export type PolicyEffect = 'allow' | 'ask' | 'deny';

/** What a rule matches. All given fields must match; of several patterns in one field, one must match. */
export type PolicyMatcher = {
  /** Tool names; `*` matches any characters. */
  readonly tool?: readonly string[];
  /** Paths relative to the working folder, or starting with `/` or `~/`, with `*` and `**`. */
  readonly path?: readonly string[];
  /** The first words of a command. */
  readonly command?: readonly (readonly string[])[];
  /** Host names; `*.example.com` matches all subdomains. */
  readonly host?: readonly string[];
  /** Only with `allow` and `command`: further options that the command may have, such as `--watch`, or `--reporter=` for any value. */
  readonly options?: readonly string[];
};

/** An example that must or must not match: a command, a path, a URL or a tool name, depending on the rule; or a complete call. */
export type PolicyExample = string | { readonly tool: string; readonly input: Json };

/** One rule of a policy. */
export type PolicyRule = {
  readonly effect: PolicyEffect;
  readonly on: PolicyMatcher;
  /** The reason, as the author of the rule wrote it. */
  readonly why?: string;
  /** The file and the position in it, for messages. */
  readonly source: string;
  readonly match: readonly PolicyExample[];
  readonly noMatch: readonly PolicyExample[];
};

/** A list of rules that are evaluated together. */
export type Policy = {
  readonly rules: readonly PolicyRule[];
  /** True if commands that might be what a rule forbids are not asked about. Only the user's own policy can set it. */
  readonly dangerouslyAllowUnknown?: boolean;
};

const policyEffects: readonly PolicyEffect[] = ['allow', 'ask', 'deny'];
const matcherFields = ['tool', 'path', 'command', 'host', 'options'] as const;

/** Parses rules. Throws on anything that is not understood, because a rule that is skipped protects nothing. */
export function parsePolicy(data: unknown, file: string): Policy {
  if (!isObject(data)) throw policyError(`${file} is not a policy: it must contain "rules", a list.`);
  assertKnownKeys(data, ['rules', 'dangerouslyAllowUnknown'], file);
  const { rules, dangerouslyAllowUnknown = false } = data;
  if (!Array.isArray(rules)) throw policyError(`${file} is not a policy: "rules" must be a list.`);
  if (typeof dangerouslyAllowUnknown !== 'boolean')
    throw policyError(`${file}: "dangerouslyAllowUnknown" must be true or false.`);
  return {
    rules: rules.map((rule: unknown, at) => parseRule(rule, `${file}, rule ${at + 1}`)),
    ...(dangerouslyAllowUnknown ? { dangerouslyAllowUnknown } : {}),
  };
}

function parseRule(data: unknown, source: string): PolicyRule {
  if (!isObject(data)) throw policyError(`${source} must be an object such as { allow: { command: git log } }.`);
  assertKnownKeys(data, [...policyEffects, 'why', 'examples'], source);
  const effects = policyEffects.filter((effect) => effect in data);
  const [effect] = effects;
  if (effect === undefined || effects.length > 1)
    throw policyError(`${source} must contain one of allow, ask and deny.`);
  const { why, examples = {} } = data;
  if (why !== undefined && typeof why !== 'string') throw policyError(`${source}: "why" must be a string.`);
  if (!isObject(examples)) throw policyError(`${source}: "examples" must contain "match" and "noMatch".`);
  assertKnownKeys(examples, ['match', 'noMatch'], `${source}, examples`);
  return {
    effect,
    on: parseMatcher(data[effect], effect, source),
    ...(why === undefined ? {} : { why }),
    source,
    match: parseExamples(examples['match'], source),
    noMatch: parseExamples(examples['noMatch'], source),
  };
}

function parseMatcher(data: unknown, effect: PolicyEffect, source: string): PolicyMatcher {
  if (!isObject(data)) throw policyError(`${source} must name a tool, a path, a command or a host.`);
  assertKnownKeys(data, matcherFields, source);
  const { command, ...rest } = Object.fromEntries(
    matcherFields.flatMap((field) =>
      data[field] === undefined ? [] : [[field, parsePatterns(data[field], field, source)]],
    ),
  ) as Partial<Record<(typeof matcherFields)[number], readonly string[]>>;
  if (rest.options && (effect !== 'allow' || command === undefined))
    throw policyError(`${source}: "options" belongs to a rule that allows a command.`);
  const notOption = rest.options?.find((option) => !/^-[\w.=-]+$/.test(option) || option === '--');
  if (notOption !== undefined)
    throw policyError(`${source}: ${JSON.stringify(notOption)} is not an option such as --watch or --reporter=.`);
  if (command === undefined && Object.keys(rest).length === 0)
    throw policyError(`${source} must name a tool, a path, a command or a host.`);
  return { ...rest, ...(command ? { command: command.map((each) => parseCommandPattern(each, source)) } : {}) };
}

function parsePatterns(value: unknown, field: string, source: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((each) => typeof each === 'string' && each.trim() !== '') as readonly string[];
  if (texts.length === 0 || texts.length !== list.length)
    throw policyError(`${source}: "${field}" must be a string or a list of strings.`);
  return texts;
}

/** A command pattern consists of plain words. Shell syntax is rejected, because the rule would not do what it seems to say. */
function parseCommandPattern(pattern: string, source: string): readonly string[] {
  const shellSyntax = /[|&;<>()$`\\"'*?[\]{}~\n]/.exec(pattern);
  if (shellSyntax)
    throw policyError(
      `${source}: a command is given by its first words, and ${JSON.stringify(shellSyntax[0])} is not part of a word.`,
    );
  return pattern.trim().split(/\s+/);
}

function parseExamples(data: unknown, source: string): readonly PolicyExample[] {
  if (data === undefined) return [];
  const isExample = (each: unknown): each is PolicyExample =>
    typeof each === 'string' || (isObject(each) && typeof each['tool'] === 'string' && 'input' in each);
  if (Array.isArray(data) && data.every(isExample)) return data;
  throw policyError(`${source}: examples are lists of strings, or of calls { tool, input }.`);
}

function assertKnownKeys(data: Readonly<Record<string, unknown>>, known: readonly string[], source: string): void {
  const unknownKey = Object.keys(data).find((key) => !known.includes(key));
  if (unknownKey !== undefined)
    throw policyError(`${source}: ${JSON.stringify(unknownKey)} is not known; there are ${known.join(', ')}.`);
}

/** Creates the error of an invalid policy. */
export const policyError = (message: string): FairleadError =>
  new FairleadError('policy/unclear', message, {
    blame: 'user',
    hint: 'Fix the policy, then run: fairlead policy check',
  });
