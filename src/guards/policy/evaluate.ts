// Evaluates a call against a policy: every operation against every rule. The strictest match wins, and an allow rule must cover an operation completely.
import path from 'node:path';
import type { ToolCall } from '../../core/index.ts';
import {
  callOperations,
  isGitControlPath,
  type Operation,
  type CallOperations,
  type PathContext,
} from './operations.ts';
import type * as fitting from './match.ts';
import type { PolicyEffect, Policy, PolicyRule } from './policy.ts';

/** The rule matcher. Loaded at the first evaluation, because most folders have no policy. */
type PolicyMatchModule = typeof fitting;

/** The decision of a policy about a call; `unmatched` if no rule applies. */
export type PolicyDecision = {
  readonly effect: PolicyEffect | 'unmatched';
  /** The reasons, one sentence each. */
  readonly why: readonly string[];
};

/** Where calls run, and which hosts are private. */
export type PolicyContext = PathContext & { readonly isPrivate?: (host: string) => boolean };

/** Evaluates a policy for a call. */
export async function evaluatePolicy(
  policy: Policy,
  call: Pick<ToolCall, 'tool' | 'input'>,
  ground: PolicyContext,
): Promise<PolicyDecision> {
  const { operations, unknowns }: CallOperations = await callOperations(call, ground);
  const fits = await import('./match.ts');
  const judged = operations.map((act) => evaluateOperation(policy, act, ground, fits));
  const of = (effect: PolicyDecision['effect']): PolicyDecision | undefined => {
    const found = judged.filter((each) => each.effect === effect);
    return found.length === 0 ? undefined : { effect, why: [...new Set(found.flatMap(({ why }) => why))] };
  };
  const strict = of('deny') ?? of('ask');
  if (strict) return strict;
  // An operation that cannot be parsed might be one that a rule forbids.
  const isWatched = policy.rules.some(({ effect, on }) => effect !== 'allow' && (on.command ?? on.path) !== undefined);
  if (unknowns.length > 0) return { effect: isWatched ? 'ask' : 'unmatched', why: [...new Set(unknowns)] };
  return of('unmatched') ?? of('allow') ?? { effect: 'unmatched', why: [] };
}

function evaluateOperation(
  { rules }: Policy,
  act: Operation,
  ground: PolicyContext,
  { matchesFully, matchesPartially }: PolicyMatchModule,
): PolicyDecision {
  const hit = (effect: PolicyEffect): PolicyRule | undefined =>
    rules.find(
      (rule) => rule.effect === effect && (effect === 'allow' ? matchesFully : matchesPartially)(rule.on, act, ground),
    );
  const denied = hit('deny');
  if (denied) return ruleDecision(denied);
  const forbidden = builtInDenial(act, ground);
  // Glob patterns are not expanded here, so a pattern might match what a rule forbids.
  const mayHide =
    act.argv?.some(({ pattern }) => pattern) && rules.some(({ effect, on }) => effect !== 'allow' && on.path);
  const allowed = mayHide ? undefined : hit('allow');
  if (forbidden !== undefined && !(allowed?.on.host && act.tool !== 'write_file'))
    return { effect: 'deny', why: [forbidden] };
  const asked = hit('ask');
  if (asked) return ruleDecision(asked);
  if (allowed) return ruleDecision(allowed);
  // A file that a command reads needs no rule of its own, unless it is outside.
  if (act.readOnly === true && act.paths.every(({ resolved }) => resolved !== undefined))
    return { effect: 'allow', why: [] };
  return {
    effect: 'unmatched',
    why: act.notAllowableReason === undefined ? [] : [`No rule covers it: ${act.notAllowableReason}.`],
  };
}

const ruleDecision = ({ effect, why, source }: PolicyRule): PolicyDecision => ({
  effect,
  why: [why ?? `The rule is in ${source}.`],
});

/** Returns why an operation is denied without any rule: output redirection to a path that no tool may write, and private addresses. */
function builtInDenial(act: Operation, { isPrivate, home }: PolicyContext): string | undefined {
  const host = act.hosts.find((each) => isPrivate?.(each));
  if (host !== undefined) return `${host} is an address of this machine or its private network.`;
  if (act.tool !== 'write_file' || act.notAllowableReason !== undefined) return undefined;
  // A home folder below the temporary folder is still a home folder.
  const isOpen = (at: string): boolean => at.startsWith('/tmp/') && !at.startsWith(path.resolve(home) + path.sep);
  const out = act.paths.find(({ given, resolved }) => resolved === undefined && !isOpen(given));
  if (out) return `${out.given} is outside the workspace.`;
  const git = act.paths.find(({ resolved }) => resolved !== undefined && isGitControlPath(resolved));
  return git ? `${git.given} is executed by other programs.` : undefined;
}
