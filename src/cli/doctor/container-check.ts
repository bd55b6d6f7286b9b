// Checks the container for code: a command in it, called as a model calls it, tries what the container must prevent.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resolveAgent, Session, testProviders } from '../../agent/index.ts';
import { errorMessage, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { containerSandbox, withSandbox } from '../../guards/index.ts';
import { openProvider } from '../../providers/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { findProgramOutside, sandboxedCommand } from '../../tools/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import { fail, ok, warn, type DoctorCheck, type CheckResult, type CheckContext } from './check.ts';
import { noLeaksMessage, probeSandbox, type SandboxProbe } from './sandbox-probe.ts';

/** Checks the container. */
export const containerCheck: DoctorCheck = {
  name: 'container',
  async run(context) {
    const { sandbox } = context.settings;
    const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-doctor-'));
    try {
      const workspace = localWorkspace({ roots: [dir], cwd: dir });
      const program = path.isAbsolute(sandbox.engine)
        ? sandbox.engine
        : findProgramOutside(sandbox.engine, process.cwd());
      if (program === undefined) return missingEngine(sandbox);
      const missing = await findMissingPart(workspace, program, sandbox, context.signal);
      if (missing) return missing;
      const own = { ...sandbox, engine: program };
      return judgeContainer(
        await probeSandbox((command) => runInContainer(workspace, own, command, context), dir),
        sandbox,
      );
    } catch (error) {
      return fail(errorMessage(error), manualRunHint(sandbox));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

const missingEngine = ({ engine }: ContainerSandbox): CheckResult =>
  warn(
    `${engine} is not installed, so the tool execute_sandboxed_command is not available; run_command does not need it.`,
    'Install it (apt-get install podman, brew install podman), or use another: fairlead config set sandbox.engine docker',
  );

type ContainerSandbox = Settings['sandbox'];

const manualRunHint = ({ engine, image }: ContainerSandbox): string =>
  `Run it by hand: ${engine} run --rm --network none ${image} true`;

/** Returns what is missing, with the command that installs it. Nothing is downloaded or created here. */
async function findMissingPart(
  workspace: Workspace,
  program: string,
  sandbox: ContainerSandbox,
  signal: AbortSignal,
): Promise<CheckResult | undefined> {
  const { engine, image, volume } = sandbox;
  const runEngine = async (...args: readonly string[]): Promise<string | undefined> => {
    const { code, text } = await workspace.exec([program, ...args], { signal, timeoutMs: 20_000 });
    return code === 0 ? undefined : escapeInvisibleLine(text.trim());
  };
  try {
    await runEngine('--version');
  } catch {
    return missingEngine(sandbox);
  }
  const missing = [
    {
      part: `the volume ${volume}`,
      error: await runEngine('volume', 'inspect', volume),
      fix: `${engine} volume create ${volume}`,
    },
    { part: `the image ${image}`, error: await runEngine('image', 'inspect', image), fix: `${engine} pull ${image}` },
  ].filter(({ error }) => error !== undefined);
  const [broken] = missing.filter(({ error }) => !/no such|not found|not known|no volume/i.test(error ?? ''));
  if (broken) return fail(`${engine} does not work: ${broken.error}`, manualRunHint(sandbox));
  if (missing.length === 0) return undefined;
  return warn(
    `${engine} is installed, but ${missing.map(({ part }) => part).join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing, so the tool execute_sandboxed_command is not available; run_command does not need it.`,
    missing.map(({ fix }) => fix).join(' && '),
  );
}

/** Returns the output of the command, called through a session by a scripted model: the same path as a real call. */
async function runInContainer(
  workspace: Workspace,
  sandbox: ContainerSandbox,
  command: string,
  { signal }: CheckContext,
): Promise<string> {
  const file = path.join(workspace.cwd, 'answers.json');
  const tool = sandboxedCommand(withSandbox(workspace, containerSandbox(sandbox)));
  writeFileSync(file, JSON.stringify([{ calls: [{ tool: tool.name, input: { command, timeout_s: 60 } }] }, 'done']));
  const provider = await openProvider({ provider: 'scripted', model: file }, { providers: testProviders });
  const session = await Session.open(resolveAgent({ provider, system: 'A trial.', tools: [tool] }), memoryLog());
  await session.advance('Try the sandbox.', { signal });
  const results = session.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? part.text : [])),
  );
  await session.close();
  return results[0] ?? '';
}

function judgeContainer({ output: text, leaks }: SandboxProbe, sandbox: ContainerSandbox): CheckResult {
  if (leaks === undefined)
    return fail(`The container could not be tested: ${escapeInvisibleLine(text.trim())}`, manualRunHint(sandbox));
  if (leaks.length > 0)
    return fail(
      `The container does not confine commands: ${leaks.join(', and ')}.`,
      `Check the configuration of ${sandbox.engine}, and do not run commands that you do not trust.`,
    );
  return ok(`A command in ${sandbox.image} with ${sandbox.engine} ${noLeaksMessage}`);
}
