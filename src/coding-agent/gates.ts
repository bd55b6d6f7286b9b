// Creates the gates of the coding agent, and states the order in which they decide about a tool call.
import { homedir } from 'node:os';
import path from 'node:path';
import { isIP } from 'node:net';
import type { Gate, JsonObject, Tool, ToolCall, Workspace } from '../core/index.ts';
import {
  grantCovers,
  grantKey,
  isFreeInReadingMode,
  isWorkspaceEdit,
  packageInstallGate,
  parsePolicy,
  permissionGate,
  permissionModeGate,
  policyGate,
  readPolicies,
  readPolicy,
  sandboxRefusalGate,
  type Grants,
  type PathPins,
  type PermissionMode,
  type Policy,
  type PolicyContext,
  type Sandbox,
} from '../guards/index.ts';
import { isPublicAddress } from '../workspace/index.ts';
import { withFlow } from './agent-flow.ts';
import { findPermissionFiles } from './foreign-permission-files.ts';
import { withPreview, type PreviewSources } from './with-preview.ts';

/** What the gates of an agent are created from. */
export type GateOptions = {
  readonly workspace: Workspace;
  /** Keeps the files that the gates decided about; without it, a path is resolved again when the tool runs. */
  readonly pins?: Pick<PathPins, 'wrapGate'>;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Gates of rules; they are evaluated before the guards. */
  readonly ruleGates: readonly Gate[];
  /** Puts the hooks before a gate. */
  readonly wrapWithHooks?: ((gate: Gate) => Gate) | undefined;
  /** The gate of the flow policy. */
  readonly flow?: Gate | undefined;
  readonly policy: Policy | undefined;
  readonly grants: Grants;
  /** The permission mode; read for each call. */
  readonly mode: () => PermissionMode;
  /** The sandbox and the redactor, which the previews of questions need. */
  readonly preview?: Pick<PreviewSources, 'sandbox' | 'redactor' | 'describe'>;
  /** Returns why git could do more than read in this folder; without it, git is denied in the modes without changes. */
  readonly findGitProgram?: () => Promise<string | undefined>;
  /** The sandbox of each tool that runs commands. */
  readonly sandboxes?: ReadonlyMap<string, Sandbox>;
};

/** Puts a guard before the gate that decides after it. */
type GuardLayer = { readonly name: string; readonly before: (next: Gate) => Gate };

/**
 * The gates of an agent, in the order permission mode, sandbox, rules, hooks, package guard, policy, permission. The second denies a command that no sandbox could run.
 *
 * core/evaluate-gates.ts evaluates them in this order, and after them the approval gate of a tool with `needsApproval`:
 * - a call that the user denied is denied before any gate is evaluated;
 * - the first `deny` ends the evaluation, and the call is denied;
 * - a `rewrite` to another input ends the pass: all gates evaluate the new input from the start, and an earlier `ask` is
 *   dropped. A call that is rewritten too often is denied;
 * - otherwise the first `ask` that the user has not approved is the question; without one the call is allowed.
 *
 * Hooks, package guard, policy and permission are one gate of nested layers, because their decisions depend on each other:
 * - an explicit `allow` of a hook outside the sandbox answers a question of the layers after it, but never overrides their `deny`;
 * - the package guard asks about a package that is new to the project, even if the policy or the permission gate allows the call;
 * - the flow policy decides after these layers, and its question is asked together with theirs;
 * - an `allow` of the policy replaces the question of the permission gate, which decides only where no policy rule matches.
 */
export function createGates(options: GateOptions): readonly Gate[] {
  const { workspace, pins, tools, ruleGates, wrapWithHooks, policy, grants, mode, sandboxes, findGitProgram } = options;
  const context = createPolicyContext(workspace);
  const permission = permissionGate({
    tools,
    mode: () => (mode() === 'auto' ? 'auto' : 'ask'),
    grants,
    locate: context.locate,
    isGranted: async (call) =>
      (mode() === 'accept-edits' && isWorkspaceEdit(call, context.locate)) ||
      (await isFreeInReadingMode(mode(), call, context)) ||
      isGranted(call, grants, context),
  });
  const layers: readonly GuardLayer[] = [
    { name: 'hooks', before: (next) => wrapWithHooks?.(next) ?? next },
    { name: 'package guard', before: (next) => packageInstallGate(next, grants, context) },
    {
      name: 'policy',
      before: (next) => (policy ? policyGate(policy, { ...context, grants, fallback: next }) : next),
    },
  ];
  const guards = withFlow(
    layers.reduceRight((next, layer) => layer.before(next), permission),
    options.flow,
  );
  const { preview } = options;
  const asks = (gate: Gate): Gate => (preview ? withPreview(gate, { ...preview, workspace, context }) : gate);
  // The preview reads the files that the pins of the call lead to.
  const pinned = pins?.wrapGate(asks(guards)) ?? asks(guards);
  const refusal = sandboxes ? [sandboxRefusalGate(sandboxes, workspace.exec.bind(workspace))] : [];
  const reading = { workspace, ...(findGitProgram ? { findGitProgram } : {}) };
  return [permissionModeGate(mode, tools, reading), ...refusal, ...ruleGates.map(asks), pinned];
}

/** Whether a grant of a rule covers a call. */
async function isGranted(call: ToolCall, grants: Grants, context: PolicyContext): Promise<boolean> {
  await grants.refresh();
  for (const { rule } of grants.list())
    if (rule.type === 'call' ? rule.key === grantKey(call, context.locate) : await grantCovers(rule, call, context))
      return true;
  return false;
}

/** The context in which the calls of a workspace are evaluated: its paths, and which hosts are on this machine or its network. */
export const createPolicyContext = ({ cwd, locate }: Pick<Workspace, 'cwd' | 'locate'>): PolicyContext => ({
  cwd,
  locate: (file) => locate(file),
  home: homedir(),
  isPrivate: (host) => (isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(host)),
});

/** Reads the policy files of the user and of the project and the permissions of `.claude/settings.json`, and adds a policy that the program names: a file, or its contents. */
export async function readAgentPolicy(
  dirs: { readonly config: string; readonly cwd: string },
  program?: string | JsonObject,
): Promise<Policy | undefined> {
  const location = { cwd: dirs.cwd, home: homedir() };
  const own = await readPolicies({ ...location, config: dirs.config });
  const permissionFiles = findPermissionFiles(location);
  const foreign =
    permissionFiles.length === 0
      ? []
      : (await import('./foreign-permissions.ts')).readForeignPermissions(permissionFiles);
  const files = own || foreign.length > 0 ? { ...own, rules: [...(own?.rules ?? []), ...foreign] } : undefined;
  if (program === undefined) return files;
  const programPolicy =
    typeof program === 'string'
      ? await readPolicy(path.resolve(dirs.cwd, program), location)
      : parsePolicy(program, 'The option "policy"');
  return { ...files, ...programPolicy, rules: [...(files?.rules ?? []), ...programPolicy.rules] };
}
