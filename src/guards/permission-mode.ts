// Permission modes: how much a run may do without asking. The gate of a mode denies what the mode forbids, before any other gate, also for sub-agents.
import { isObject, unwrapDeferredCall, type Gate, type Tool } from '../core/index.ts';

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

/** Tools that start no change themselves: the calls of a sub-agent pass the same gates. */
const startingTools: ReadonlySet<string> = new Set(['spawn_agent', 'manage_agents']);

/** Creates the gate that denies changes in the modes `read-only` and `plan`. Other modes are decided by the permission gate. */
export function permissionModeGate(
  mode: () => PermissionMode,
  tools: ReadonlyMap<string, Pick<Tool, 'effect' | 'clientSideQuestion'>>,
): Gate {
  return async (call) => {
    const current = mode();
    if (current !== 'read-only' && current !== 'plan') return { type: 'allow' };
    const unwrapped = unwrapDeferredCall(call);
    const { tool, input } = typeof unwrapped === 'string' ? call : unwrapped;
    if (tools.get(tool)?.effect === 'read' || startingTools.has(tool)) return { type: 'allow' };
    const { command, background } = isObject(input) ? input : {};
    if (tool === 'run_command' && typeof command === 'string' && background !== true && (await onlyReads(command)))
      return { type: 'allow' };
    return {
      type: 'deny',
      reason: `The mode is ${current}, so nothing may be changed and only commands that read can run.`,
      by: { kind: 'permission' },
    };
  };
}

/** Whether every command of a line is a program that only reads, and the line writes no file. */
async function onlyReads(line: string): Promise<boolean> {
  const { isReadingCommand } = await import('./policy/describe-command.ts');
  const { provePlainLine } = await import('./policy/plain-tree.ts');
  const reading = await provePlainLine(line);
  if ('notPlain' in reading) return false;
  return reading.line.commands.every(
    ({ words, redirections }) =>
      isReadingCommand(words.map(({ text }) => text)) &&
      redirections.every(({ operator, target }) => operator === '>&' || operator === '<' || target === '/dev/null'),
  );
}
