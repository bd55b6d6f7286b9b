// Checks the sandbox of the model's commands: a command in this directory tries what the sandbox must prevent.
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { withSandbox } from '../../guards/index.ts';
import { fail, ok, warn, type DoctorCheck } from './check.ts';
import { noLeaksMessage, probeSandbox } from './sandbox-probe.ts';

/** Checks the sandbox of commands. */
export const commandSandboxCheck: DoctorCheck = {
  name: 'commands',
  async run({ commandSandbox, signal }) {
    const { workspace, sandbox } = await commandSandbox();
    const [, reason = sandbox.description, fix = ''] = /^(.*?\.) (.*)$/.exec(sandbox.description) ?? [];
    if (sandbox.name === 'refused') return warn(reason, fix);
    if (sandbox.name === 'none') return warn(sandbox.description, 'Start without --no-sandbox.');
    const inside = withSandbox(workspace, sandbox);
    const run = async (command: string): Promise<string> =>
      (await inside.exec(command, { signal, timeoutMs: 20_000 })).text;
    try {
      const { output, leaks } = await probeSandbox(run, workspace.cwd);
      if (leaks?.length === 0) return ok(`A command in ${sandbox.name} ${noLeaksMessage}`);
      return fail(
        leaks
          ? `${sandbox.name} does not confine commands: ${leaks.join(', and ')}.`
          : `${sandbox.name} could not be tested: ${escapeInvisibleLine(output.trim())}`,
        'Do not run commands that you do not trust, and report this bug.',
      );
    } catch (error) {
      return fail(errorMessage(error), 'Run it by hand: bwrap --unshare-all --ro-bind / / true');
    }
  },
};
