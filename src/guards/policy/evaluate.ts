// Judges calls by a policy: every piece of a call by every rule, the strictest counts, and an allowance covers a piece whole or not at all.
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

/** What tells whether a rule fits; loaded with the first call that is judged, for most folders have no policy. */
type PolicyMatchModule = typeof fitting;

/** What a policy says of a call; `unmatched` where it says nothing. */
export type PolicyDecision = {
  readonly effect: PolicyEffect | 'unmatched';
  /** Why, a sentence each. */
  readonly why: readonly string[];
};

/** Where calls happen, and which hosts are nobody's business. */
export type PolicyContext = PathContext & { readonly isPrivate?: (host: string) => boolean };

/** What this policy says of this call. */
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
  // What cannot be read might be what a rule forbids.
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
  // What a pattern stands for is not looked up, so it might be what a rule forbids.
  const mayHide =
    act.argv?.some(({ pattern }) => pattern) && rules.some(({ effect, on }) => effect !== 'allow' && on.path);
  const allowed = mayHide ? undefined : hit('allow');
  if (forbidden !== undefined && !(allowed?.on.host && act.tool !== 'write_file'))
    return { effect: 'deny', why: [forbidden] };
  const asked = hit('ask');
  if (asked) return ruleDecision(asked);
  if (allowed) return ruleDecision(allowed);
  // A file that a command reads is part of reading, unless it leads out.
  if (act.readOnly === true && act.paths.every(({ resolved }) => resolved !== undefined))
    return { effect: 'allow', why: [] };
  return {
    effect: 'unmatched',
    why: act.notAllowableReason === undefined ? [] : [`No rule covers it: ${act.notAllowableReason}.`],
  };
}

const ruleDecision = ({ effect, why, source }: PolicyRule): PolicyDecision => ({
  effect,
  why: [why ?? `It is the rule of ${source}.`],
});

/** What is denied without a rule: writing by redirection where no tool could write, and addresses inside. */
function builtInDenial(act: Operation, { isPrivate, home }: PolicyContext): string | undefined {
  const host = act.hosts.find((each) => isPrivate?.(each));
  if (host !== undefined) return `${host} is an address of this machine or its network.`;
  if (act.tool !== 'write_file' || act.notAllowableReason !== undefined) return undefined;
  // A home that lies among the temporary files is a home still.
  const isOpen = (at: string): boolean => at.startsWith('/tmp/') && !at.startsWith(path.resolve(home) + path.sep);
  const out = act.paths.find(({ given, resolved }) => resolved === undefined && !isOpen(given));
  if (out) return `${out.given} is outside the workspace.`;
  const git = act.paths.find(({ resolved }) => resolved !== undefined && isGitControlPath(resolved));
  return git ? `${git.given} is run by others.` : undefined;
}
