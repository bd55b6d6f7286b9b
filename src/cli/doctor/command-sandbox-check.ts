// Checks the sandbox of the model's commands: a command in this directory tries what the sandbox must prevent.
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { withSandbox } from '../../guards/index.ts';
import { fail, ok, warn, type DoctorCheck } from './check.ts';
import { noLeaksMessage, probeSandbox } from './sandbox-probe.ts';

/** An emulated processor takes long to start a kernel. */
const bootTimeoutMs = 180_000;
const filterFix = 'Install bubblewrap or perl.';
const hardwareFix = 'Use a machine with /dev/kvm.';

/** Checks the sandbox of commands. */
export const commandSandboxCheck: DoctorCheck = {
  name: 'commands',
  async run({ commandSandbox, signal }) {
    const { workspace, sandbox } = await commandSandbox();
    const { remedy = '', limitation } = sandbox;
    if (sandbox.name === 'refused')
      return warn(sandbox.description.slice(0, sandbox.description.length - remedy.length).trim(), remedy);
    if (sandbox.name === 'none') return warn(sandbox.description, 'Start without --no-sandbox.');
    const inside = withSandbox(workspace, sandbox);
    const run = async (command: string): Promise<string> =>
      (await inside.exec(command, { signal, timeoutMs: sandbox.name === 'microvm' ? bootTimeoutMs : 20_000 })).text;
    try {
      const { output, leaks } = await probeSandbox(run, workspace.cwd);
      const works = `A command in ${sandbox.name} ${noLeaksMessage}`;
      if (leaks?.length === 0)
        return limitation === undefined
          ? ok(works)
          : warn(`${works} ${limitation}`, sandbox.name === 'microvm' ? hardwareFix : filterFix);
      return fail(
        leaks
          ? `${sandbox.name} does not confine commands: ${leaks.join(', and ')}.`
          : `${sandbox.name} could not be tested: ${escapeInvisibleLine(output.trim())}`,
        'Do not run commands that you do not trust, and report this bug.',
      );
    } catch (error) {
      return fail(errorMessage(error), 'Run it by hand: unshare -U -r -m -p -n --fork true');
    }
  },
};
