// Matches calls with grant rules: which rules are offered for a call, and whether a rule covers another call. They never cover what a policy denies or asks about.
import { isObject, isSecretFile, unwrapDeferredCall, type ToolCall } from '../../core/index.ts';
import type { GrantRule, ResolvePath } from '../grant-rule.ts';
import type { PolicyContext } from './evaluate.ts';

/** A call, as gates and views see it. */
type Call = Pick<ToolCall, 'tool' | 'input'>;

const commandTools: ReadonlySet<string> = new Set(['run_command', 'execute_sandboxed_command']);
const editTools: ReadonlySet<string> = new Set(['edit_file', 'write_file', 'apply_patch', 'edit_notebook']);

/** Returns the broader rules that may be offered for a call, besides this exact call. */
export async function findGrantRules(call: Call, context: PolicyContext): Promise<readonly GrantRule[]> {
  const { tool, input } = unwrap(call);
  if (isWorkspaceEdit({ tool, input }, context.locate)) return [{ type: 'edits' }];
  if (tool.startsWith('mcp__')) return [{ type: 'tool', tool }];
  const { command } = isObject(input) ? input : {};
  if (!commandTools.has(tool) || typeof command !== 'string') return [];
  const { findCommandPrefix } = await import('./grant-commands.ts');
  const words = await findCommandPrefix(command);
  const rule = words && ({ type: 'command', tool, words } as const);
  // A rule that does not cover the call itself would not be what the user asked for.
  return rule && (await grantCovers(rule, { tool, input }, context)) ? [rule] : [];
}

/** Whether a rule covers a call. The exact kind of a call is compared by its key, which is not known here. */
export async function grantCovers(rule: GrantRule, call: Call, context: PolicyContext): Promise<boolean> {
  const target = unwrap(call);
  if (rule.type === 'edits') return isWorkspaceEdit(target, context.locate);
  if (rule.type === 'tool') return target.tool === rule.tool && rule.tool.startsWith('mcp__');
  if (rule.type !== 'command' || target.tool !== rule.tool) return false;
  const { commandBeginsWith } = await import('./grant-commands.ts');
  return commandBeginsWith(rule, target, context);
}

function unwrap(call: Call): Call {
  const unwrapped = unwrapDeferredCall(call);
  return typeof unwrapped === 'string' ? call : unwrapped;
}

/** Whether a call only edits files in the allowed folders that hold no secrets. */
export function isWorkspaceEdit({ tool, input }: Call, locate: ResolvePath): boolean {
  const { path, paths } = isObject(input) ? input : {};
  const files = [path, ...(Array.isArray(paths) ? paths : [])].filter((each) => each !== undefined);
  if (!editTools.has(tool) || files.length === 0) return false;
  try {
    return files.every((file) => typeof file === 'string' && !isSecretFile(file) && !isSecretFile(locate(file)));
  } catch {
    // A path is outside the allowed folders.
    return false;
  }
}
