// The gates of the coding agent in one ordered list: which of them decide about a tool call, and whose decision wins.
import { homedir } from 'node:os';
import path from 'node:path';
import { isIP } from 'node:net';
import type { Gate, JsonObject, Tool, Workspace } from '../core/index.ts';
import {
  packageInstallGate,
  parsePolicy,
  permissionGate,
  policyGate,
  readPolicies,
  readPolicy,
  type Grants,
  type Policy,
  type PolicyContext,
} from '../guards/index.ts';
import { isPublicAddress } from '../workspace/index.ts';

/** What the gates of an agent are created from. */
export type GateOptions = {
  readonly workspace: Workspace;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Gates of rules; each decides about every call. */
  readonly ruleGates: readonly Gate[];
  /** Puts the hooks before a gate. */
  readonly wrapWithHooks?: ((gate: Gate) => Gate) | undefined;
  readonly policy: Policy | undefined;
  readonly grants: Grants;
  readonly autoApprove: () => boolean;
};

/** Puts a guard before the gate that decides after it. */
type GuardLayer = { readonly name: string; readonly before: (next: Gate) => Gate };

/**
 * The gates of an agent, in the order rules, hooks, package guard, policy, permission.
 *
 * Every gate decides about every call, and the strictest decision wins: deny > ask > rewrite > allow. There are two
 * exceptions, which is why the guards after the rules are layers and not a flat list:
 * - an explicit `allow` of a hook answers a question of the layers after it, but never overrides their `deny`;
 * - an `allow` of the policy replaces the question of the permission gate, which decides only where no policy rule matches.
 */
export function createGates(options: GateOptions): readonly Gate[] {
  const { workspace, tools, ruleGates, wrapWithHooks, policy, grants, autoApprove } = options;
  const context = createPolicyContext(workspace);
  const permission = permissionGate({
    tools,
    mode: () => (autoApprove() ? 'auto' : 'ask'),
    grants,
    locate: context.locate,
  });
  const layers: readonly GuardLayer[] = [
    { name: 'hooks', before: (next) => wrapWithHooks?.(next) ?? next },
    { name: 'package guard', before: (next) => packageInstallGate(next, grants, context) },
    {
      name: 'policy',
      before: (next) => (policy ? policyGate(policy, { ...context, grants, fallback: next }) : next),
    },
  ];
  return [...ruleGates, layers.reduceRight((next, layer) => layer.before(next), permission)];
}

/** The context in which the calls of a workspace are evaluated: its paths, and which hosts are on this machine or its network. */
export const createPolicyContext = ({ cwd, locate }: Pick<Workspace, 'cwd' | 'locate'>): PolicyContext => ({
  cwd,
  locate: (file) => locate(file),
  home: homedir(),
  isPrivate: (host) => (isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(host)),
});

/** Reads the policy files of the user and of the project, and adds a policy that the program names: a file, or its contents. */
export async function readAgentPolicy(
  dirs: { readonly config: string; readonly cwd: string },
  program?: string | JsonObject,
): Promise<Policy | undefined> {
  const location = { cwd: dirs.cwd, home: homedir() };
  const files = await readPolicies({ ...location, config: dirs.config });
  if (program === undefined) return files;
  const own =
    typeof program === 'string'
      ? await readPolicy(path.resolve(dirs.cwd, program), location)
      : parsePolicy(program, 'The option "policy"');
  return { rules: [...(files?.rules ?? []), ...own.rules] };
}
