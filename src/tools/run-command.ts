// The run_command tool: runs a shell command in the workspace, in the foreground with live output, or in the background.
import { FairleadError, isObject, type JsonObject, type Tool, type Workspace } from '../core/index.ts';
import { startedCommandOutput, type BackgroundCommands } from './shell/background.ts';
import { commandInputSchema, runCommandToEnd, type CommandInput } from './shell/command.ts';

const timeoutRange = { defaultSeconds: 120, maxSeconds: 3600 };

const writeGitProperty: JsonObject = {
  write_git: { type: 'boolean', description: 'Lets it write .git, after the user is asked. Prefer git_change.' },
};
const writeGitWarning =
  'Warning: programs that this command runs can change the commits, branches and index of the repository.';

/** Creates the run_command tool. With `background`, commands can run in the background. */
export const runCommand = (workspace: Workspace, background?: BackgroundCommands): Tool => ({
  name: 'run_command',
  description:
    'Run a shell command in the working folder. Processes that it leaves running are ended with it. It usually runs in a sandbox: only the working folder is writable, and there is no network.',
  input: commandInputSchema(timeoutRange, {
    ...(background ? { background: { type: 'boolean', description: 'Start it without waiting for its end.' } } : {}),
    ...(workspace.isGitReadOnly ? writeGitProperty : {}),
  }),
  effect: 'external',
  untrustedOutput: true,
  needsApproval: (input) => isObject(input) && input['write_git'] === true && writeGitWarning,
  async execute(input, context) {
    const command = input as CommandInput;
    if (command.background && command.write_git)
      throw new FairleadError('tool/bad-input', 'A command in the background cannot write .git: leave out write_git.', {
        blame: 'model',
      });
    if (!background || !command.background) return runCommandToEnd(workspace, command, timeoutRange, context);
    return startedCommandOutput(await background.start(command, context.state.session));
  },
});
