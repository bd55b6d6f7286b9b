// Whether what confines the model's commands holds: one of them, run as they are, must find no network and nothing of the home folder.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf, visibleLine } from '../../core/index.ts';
import { chooseSandbox, sandboxed } from '../../guards/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { fail, ok, warn, type DoctorCheck } from './check.ts';
import { leaksIn, proof } from './sandbox-check.ts';

/** Tries the sandbox of commands. */
export const commandsCheck: DoctorCheck = {
  name: 'commands',
  async run({ env, signal }) {
    const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-doctor-')));
    const witness = path.join(homedir(), `.fairlead-doctor-${randomUUID()}`);
    try {
      const sandbox = await chooseSandbox({ roots: [root], home: homedir(), path: env['PATH'] ?? '' });
      const [, why = sandbox.about, mend = ''] = /^(.*?\.) (.*)$/.exec(sandbox.about) ?? [];
      if (sandbox.name === 'refused') return warn(why, mend);
      writeFileSync(witness, 'seen', { flag: 'wx', mode: 0o600 });
      const inside = sandboxed(localWorkspace({ roots: [root] }), sandbox);
      const { text } = await inside.exec(proof(witness), { signal, timeoutMs: 20_000 });
      const leaks = leaksIn(text);
      if (leaks?.length === 0)
        return ok(
          `A command in ${sandbox.name} had no network, saw nothing of the home folder and could not write system files.`,
        );
      return fail(
        leaks
          ? `${sandbox.name} does not hold: inside it, ${leaks.join(', and ')}.`
          : `${sandbox.name} could not be tried: ${visibleLine(text.trim())}`,
        'Do not run commands that you do not trust, and tell us.',
      );
    } catch (error) {
      return fail(messageOf(error), 'Try it by hand: bwrap --unshare-all --ro-bind / / true');
    } finally {
      rmSync(witness, { force: true });
      rmSync(root, { recursive: true, force: true });
    }
  },
};
