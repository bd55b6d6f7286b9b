// Whether what confines the model's commands holds: one of them, run as they are in this very folder, tries what it must not.
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { withSandbox } from '../../guards/index.ts';
import { fail, ok, warn, type DoctorCheck } from './check.ts';
import { noLeaksMessage, probeSandbox } from './sandbox-probe.ts';

/** Tries the sandbox of commands. */
export const commandSandboxCheck: DoctorCheck = {
  name: 'commands',
  async run({ commandSandbox, signal }) {
    const { workspace, sandbox } = await commandSandbox();
    const [, why = sandbox.description, mend = ''] = /^(.*?\.) (.*)$/.exec(sandbox.description) ?? [];
    if (sandbox.name === 'refused') return warn(why, mend);
    if (sandbox.name === 'none') return warn(sandbox.description, 'Start without --no-sandbox.');
    const inside = withSandbox(workspace, sandbox);
    const run = async (command: string): Promise<string> =>
      (await inside.exec(command, { signal, timeoutMs: 20_000 })).text;
    try {
      const { output, leaks } = await probeSandbox(run, workspace.cwd);
      if (leaks?.length === 0) return ok(`A command in ${sandbox.name} ${noLeaksMessage}`);
      return fail(
        leaks
          ? `${sandbox.name} does not hold: inside it, ${leaks.join(', and ')}.`
          : `${sandbox.name} could not be tried: ${escapeInvisibleLine(output.trim())}`,
        'Do not run commands that you do not trust, and tell us.',
      );
    } catch (error) {
      return fail(errorMessage(error), 'Try it by hand: bwrap --unshare-all --ro-bind / / true');
    }
  },
};
