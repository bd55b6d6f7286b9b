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
import type * as matchModule from './match.ts';
import { provePlainLine } from './plain-tree.ts';
import type { PolicyEffect, Policy, PolicyRule } from './policy.ts';

/** The rule matcher. Loaded at the first evaluation, because most folders have no policy. */
type PolicyMatchModule = typeof matchModule;

/** The decision of a policy about a call; `unmatched` if no rule applies. */
export type PolicyDecision = {
  readonly effect: PolicyEffect | 'unmatched';
  /** The reasons, one sentence each. */
  readonly why: readonly string[];
};

/** The folders in which calls run, and which hosts are private. */
export type PolicyContext = PathContext & { readonly isPrivate?: (host: string) => boolean };

/** Evaluates a policy for a call. */
export async function evaluatePolicy(
  policy: Policy,
  call: Pick<ToolCall, 'tool' | 'input'>,
  context: PolicyContext,
): Promise<PolicyDecision> {
  const { operations, unknowns, commandLine }: CallOperations = await callOperations(call, context);
  const matchers = await import('./match.ts');
  const decisions = operations.map((operation) => evaluateOperation(policy, operation, context, matchers));
  const decisionWith = (effect: PolicyDecision['effect']): PolicyDecision | undefined => {
    const withEffect = decisions.filter((each) => each.effect === effect);
    return withEffect.length === 0 ? undefined : { effect, why: [...new Set(withEffect.flatMap(({ why }) => why))] };
  };
  const strictDecision = decisionWith('deny') ?? decisionWith('ask');
  if (strictDecision) return strictDecision;
  const reading = commandLine === undefined ? undefined : await provePlainLine(commandLine);
  const notPlain = reading !== undefined && 'notPlain' in reading ? [formatNotPlain(reading.notPlain)] : [];
  const doubts = [...new Set([...unknowns, ...notPlain])];
  // Before the user is asked because of a doubt: an operation that cannot be proved harmless might be one that a rule forbids.
  const strictDoubts =
    commandLine === undefined || policy.dangerouslyAllowUnknown
      ? []
      : (await import('./doubts.ts')).findDoubts(policy, operations, doubts, context);
  if (strictDoubts.length > 0) return { effect: 'ask', why: strictDoubts };
  if (doubts.length > 0) return { effect: 'unmatched', why: doubts };
  return decisionWith('unmatched') ?? decisionWith('allow') ?? { effect: 'unmatched', why: [] };
}

const formatNotPlain = (reason: string): string => `It is not known what all of it does, because ${reason}.`;

function evaluateOperation(
  { rules }: Policy,
  operation: Operation,
  context: PolicyContext,
  { isSensitivePath, matchesFully, matchesPartially }: PolicyMatchModule,
): PolicyDecision {
  const findMatchingRule = (effect: PolicyEffect): PolicyRule | undefined =>
    rules.find(
      (rule) =>
        rule.effect === effect && (effect === 'allow' ? matchesFully : matchesPartially)(rule.on, operation, context),
    );
  const denied = findMatchingRule('deny');
  if (denied) return ruleDecision(denied);
  const forbidden = builtInDenial(operation, context);
  // Glob patterns are not expanded here, so a pattern might match what a rule forbids.
  const globMayMatchStrictRule =
    operation.argv?.some(({ pattern }) => pattern) && rules.some(({ effect, on }) => effect !== 'allow' && on.path);
  const allowed = globMayMatchStrictRule ? undefined : findMatchingRule('allow');
  if (forbidden !== undefined && !(allowed?.on.host && operation.tool !== 'write_file'))
    return { effect: 'deny', why: [forbidden] };
  const asked = findMatchingRule('ask');
  if (asked) return ruleDecision(asked);
  if (allowed) return ruleDecision(allowed);
  // A file that a command reads needs no rule of its own, unless it is outside the workspace or secret.
  if (operation.readOnly === true && !operation.paths.some(isSensitivePath)) return { effect: 'allow', why: [] };
  return {
    effect: 'unmatched',
    why: operation.notAllowableReason === undefined ? [] : [`No rule covers it: ${operation.notAllowableReason}.`],
  };
}

const ruleDecision = ({ effect, why, source }: PolicyRule): PolicyDecision => ({
  effect,
  why: [why ?? `The rule is in ${source}.`],
});

/** Returns why an operation is denied without any rule: output redirection to a path that no tool may write, and private addresses. */
function builtInDenial(operation: Operation, { isPrivate, home }: PolicyContext): string | undefined {
  const host = operation.hosts.find((each) => isPrivate?.(each));
  if (host !== undefined) return `${host} is an address of this machine or its private network.`;
  if (operation.tool !== 'write_file' || operation.notAllowableReason !== undefined) return undefined;
  // A home folder below the temporary folder is still a home folder.
  const isTemporaryPath = (file: string): boolean =>
    file.startsWith('/tmp/') && !file.startsWith(path.resolve(home) + path.sep);
  const outside = operation.paths.find(({ given, resolved }) => resolved === undefined && !isTemporaryPath(given));
  if (outside) return `${outside.given} is outside the workspace.`;
  const gitPath = operation.paths.find(({ resolved }) => resolved !== undefined && isGitControlPath(resolved));
  return gitPath ? `git runs or loads ${gitPath.given}; it must not be written.` : undefined;
}
