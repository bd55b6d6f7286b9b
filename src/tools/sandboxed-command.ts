// The execute_sandboxed_command tool: runs a command in a container with a persistent volume. The given workspace must run commands there.
import type { Tool, Workspace } from '../core/index.ts';
import { commandInputSchema, runCommandToEnd, type CommandInput } from './shell/command.ts';

const timeoutRange = { defaultSeconds: 60, maxSeconds: 600 };

/** Creates the execute_sandboxed_command tool. */
export const sandboxedCommand = (workspace: Pick<Workspace, 'exec'>, mountpoint = '/workspace'): Tool => ({
  name: 'execute_sandboxed_command',
  description: `Run a shell command in a container without network. Files in ${mountpoint} persist; the user's files are not available.`,
  input: commandInputSchema(timeoutRange),
  effect: 'write',
  untrustedOutput: true,
  execute: (input, context) => runCommandToEnd(workspace, input as CommandInput, timeoutRange, context),
});
