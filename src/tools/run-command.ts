// The run_command tool: runs a shell command in the workspace, in the foreground with live output, or in the background.
import type { Tool, Workspace } from '../core/index.ts';
import { startedCommandOutput, type BackgroundCommands } from './shell/background.ts';
import { commandInputSchema, runCommandToEnd, type CommandInput } from './shell/command.ts';

const timeoutRange = { defaultSeconds: 120, maxSeconds: 3600 };

/** Creates the run_command tool. With `background`, commands can run in the background. */
export const runCommand = (workspace: Workspace, background?: BackgroundCommands): Tool => ({
  name: 'run_command',
  description:
    'Run a shell command in the working folder. Processes that it leaves running are ended with it. It usually runs in a sandbox: only the working folder is writable, and there is no network.',
  input: commandInputSchema(
    timeoutRange,
    background ? { background: { type: 'boolean', description: 'Start it without waiting for its end.' } } : {},
  ),
  effect: 'external',
  untrustedOutput: true,
  async execute(input, context) {
    const command = input as CommandInput;
    if (!background || !command.background) return runCommandToEnd(workspace, command, timeoutRange, context);
    return startedCommandOutput(await background.start(command, context.state.session));
  },
});
