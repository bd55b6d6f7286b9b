// Permission modes: how much a run may do without asking. The gate of a mode denies what the mode forbids, before any other gate, also for sub-agents.
import { isObject, unwrapDeferredCall, type Gate, type Json, type Tool, type ToolCall } from '../core/index.ts';
import type { PathContext } from './policy/operations.ts';
import type { ReadingContext } from './reading-line.ts';

/**
 * `read-only`: nothing is changed. `plan`: the same, and the model writes a plan. `ask`: changes are asked about.
 * `accept-edits`: edits inside the working folder are made without a question, everything else needs approval. `auto`: nothing needs approval, except what a policy or a guard asks in every mode.
 */
export type PermissionMode = 'read-only' | 'plan' | 'ask' | 'accept-edits' | 'auto';

/** The modes, the strictest first. */
export const permissionModes: readonly PermissionMode[] = ['read-only', 'plan', 'ask', 'accept-edits', 'auto'];

/** Whether a text names a mode. */
export const isPermissionMode = (text: unknown): text is PermissionMode =>
  permissionModes.some((mode) => mode === text);

/** Whether a mode forbids every change. */
export const isReadingMode = (mode: PermissionMode): boolean => mode === 'read-only' || mode === 'plan';

/** Describes a mode in a few words, as a status line shows it. */
export const permissionModeLabels: Readonly<Record<PermissionMode, string>> = {
  'read-only': 'read-only',
  plan: 'plan only',
  ask: 'ask before changes',
  'accept-edits': 'edits allowed',
  auto: 'auto-approve',
};

/** Describes what a mode does, in one sentence. */
export const permissionModeDescriptions: Readonly<Record<PermissionMode, string>> = {
  'read-only': 'Nothing is changed: files are read, and only commands that read can run.',
  plan: 'Nothing is changed: the model reads and writes a plan.',
  ask: 'You are asked before files are changed and commands are run.',
  'accept-edits': 'Edits and new files in this folder need no approval; everything else does.',
  auto: 'File changes and commands are approved automatically.',
};

/** The mode that follows when the user switches with one key. It never leads to `auto`. */
export function nextPermissionMode(mode: PermissionMode): PermissionMode {
  if (mode === 'ask') return 'accept-edits';
  return mode === 'accept-edits' ? 'plan' : 'ask';
}

/** Tools that start no change themselves, and the fields of their input: the calls of a sub-agent pass the same gates. A field that is not listed could change something. */
const startingTools: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['spawn_agent', new Set(['task', 'agent', 'role', 'tools', 'model', 'reviews', 'max_turns', 'background'])],
  ['manage_agents', new Set(['action', 'agent', 'message', 'reviews'])],
]);

/** The only fields of a command that may run: others could change what it does. */
const commandFields: ReadonlySet<string> = new Set(['command', 'timeout_s', 'background', 'write_git']);

/** Creates the gate that denies changes in the modes `read-only` and `plan`. Other modes are decided by the permission gate. Without a context, every command is denied. */
export function permissionModeGate(
  mode: () => PermissionMode,
  tools: ReadonlyMap<string, Pick<Tool, 'effect' | 'clientSideQuestion'>>,
  context?: ReadingContext,
): Gate {
  return async (call) => {
    const current = mode();
    if (!isReadingMode(current)) return { type: 'allow' };
    const unwrapped = unwrapDeferredCall(call);
    const { tool: name, input } = typeof unwrapped === 'string' ? call : unwrapped;
    const tool = tools.get(name);
    const deny = (why: string): ReturnType<Gate> => ({
      type: 'deny',
      reason: `The mode is ${current}, so nothing may be changed and only commands that read can run${why}.`,
      by: { kind: 'permission' },
    });
    // The client may do anything with a call, whatever the name of the tool is.
    if (tool === undefined || tool.clientSideQuestion !== undefined) return deny('');
    if (tool.effect === 'read' || hasOnlyFields(input, startingTools.get(name))) return { type: 'allow' };
    const { command, background, write_git: writesGit } = isObject(input) ? input : {};
    if (name !== 'run_command' || typeof command !== 'string' || !hasOnlyFields(input, commandFields)) return deny('');
    if (background === true || writesGit === true) return deny('');
    if (!context) return deny(': it is not known where the command would run');
    const { findChange } = await import('./reading-line.ts');
    const change = await findChange(command, context);
    return change === undefined ? { type: 'allow' } : deny(`: ${change}`);
  };
}

const hasOnlyFields = (input: Json, names: ReadonlySet<string> | undefined): boolean =>
  names !== undefined && isObject(input) && Object.keys(input).every((name) => names.has(name));

/** Whether a call in a mode without changes needs no approval: a command that the gate of the mode lets run, on files of the working folder. */
export async function isFreeInReadingMode(
  mode: PermissionMode,
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  context: PathContext,
): Promise<boolean> {
  if (!isReadingMode(mode) || tool !== 'run_command') return false;
  const { readsOnlyFolder } = await import('./reading-line.ts');
  return readsOnlyFolder({ tool, input }, context);
}
