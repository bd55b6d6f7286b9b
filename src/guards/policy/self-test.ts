// Runs the examples of policy rules: each must match or not match as stated before the policy is used.
import path from 'node:path';
import { escapeInvisibleLine } from '../../core/index.ts';
import { provePlainLine } from './plain-tree.ts';
import { callOperations, type PathContext } from './operations.ts';
import { matchesFully, matchesPartially } from './match.ts';
import { policyError, type PolicyExample, type Policy, type PolicyRule } from './policy.ts';

/** Throws at the first example that fails. */
export async function assertExamplesHold({ rules }: Policy, folders: Pick<PathContext, 'cwd' | 'home'>): Promise<void> {
  // Examples use names, not files: no path is resolved.
  const context: PathContext = { ...folders, locate: (given) => path.resolve(folders.cwd, given) };
  for (const rule of rules)
    for (const [examples, mustMatch] of [
      [rule.match, true],
      [rule.noMatch, false],
    ] as const)
      for (const example of examples)
        if ((await matchesExample(rule, example, context)) !== mustMatch)
          throw policyError(
            `${rule.source} ${mustMatch ? 'does not match' : 'matches'} its example ${escapeInvisibleLine(JSON.stringify(example))}, and ${mustMatch ? 'must' : 'must not'}.`,
          );
}

async function matchesExample(
  { effect, on }: PolicyRule,
  example: PolicyExample,
  context: PathContext,
): Promise<boolean> {
  const { operations, unknowns, commandLine } = await callOperations(exampleCall(on, example), context);
  if (effect !== 'allow') return operations.some((operation) => matchesPartially(on, operation, context));
  if (commandLine !== undefined && 'notPlain' in (await provePlainLine(commandLine))) return false;
  return (
    unknowns.length === 0 &&
    operations.length > 0 &&
    operations.every((operation) => operation.readOnly === true || matchesFully(on, operation, context))
  );
}

function exampleCall(on: PolicyRule['on'], example: PolicyExample): Exclude<PolicyExample, string> {
  if (typeof example !== 'string') return example;
  const tool = on.tool?.find((name) => /^[\w-]+$/.test(name));
  if (on.command) return { tool: tool ?? 'run_command', input: { command: example } };
  if (on.path) return { tool: tool ?? 'write_file', input: { path: example } };
  if (on.host)
    return { tool: tool ?? 'web_fetch', input: { url: example.includes('://') ? example : `https://${example}/` } };
  return { tool: example, input: {} };
}
