// Whether the container for code holds: a command in it, run as a model's would be, tries what it must not.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resolveAgent, Session } from '../../agent/index.ts';
import { testProviders } from '../../agent/test-providers.ts';
import { errorMessage, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { containerSandbox, withSandbox } from '../../guards/index.ts';
import { openProvider } from '../../providers/index.ts';
import { memoryLog } from '../../stores/memory.ts';
import { sandboxedCommand } from '../../tools/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import { fail, ok, warn, type DoctorCheck, type CheckResult, type CheckContext } from './check.ts';
import { noLeaksMessage, probeSandbox, type SandboxProbe } from './sandbox-probe.ts';

/** Tries the sandbox. */
export const containerCheck: DoctorCheck = {
  name: 'sandbox',
  async run(ground) {
    const { sandbox } = ground.settings;
    const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-doctor-'));
    try {
      const workspace = localWorkspace({ roots: [folder], cwd: folder });
      const lacks = await findMissingPart(workspace, sandbox, ground.signal);
      if (lacks) return lacks;
      return judgeContainer(
        await probeSandbox((command) => runInContainer(workspace, command, ground), folder),
        sandbox,
      );
    } catch (error) {
      return fail(errorMessage(error), manualRunHint(sandbox));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

type ContainerSandbox = Settings['sandbox'];

const manualRunHint = ({ engine, image }: ContainerSandbox): string =>
  `Try it by hand: ${engine} run --rm --network none ${image} true`;

/** Nothing is fetched and nothing is made: what is not there is said, with the command that brings it. */
async function findMissingPart(
  workspace: Workspace,
  sandbox: ContainerSandbox,
  signal: AbortSignal,
): Promise<CheckResult | undefined> {
  const { engine, image, volume } = sandbox;
  const says = async (...words: readonly string[]): Promise<string | undefined> => {
    const { code, text } = await workspace.exec([engine, ...words], { signal, timeoutMs: 20_000 });
    return code === 0 ? undefined : escapeInvisibleLine(text.trim());
  };
  try {
    await says('--version');
  } catch {
    return warn(
      `There is no ${engine} on this machine, so commands cannot be run in a sandbox.`,
      'Install it (apt-get install podman, brew install podman), or name another: fairlead config set sandbox.engine docker',
    );
  }
  const absent = [
    {
      what: `the volume ${volume}`,
      why: await says('volume', 'inspect', volume),
      mend: `${engine} volume create ${volume}`,
    },
    { what: `the image ${image}`, why: await says('image', 'inspect', image), mend: `${engine} pull ${image}` },
  ].filter(({ why }) => why !== undefined);
  const [broken] = absent.filter(({ why }) => !/no such|not found|not known|no volume/i.test(why ?? ''));
  if (broken) return fail(`${engine} does not work here: ${broken.why}`, manualRunHint(sandbox));
  if (absent.length === 0) return undefined;
  return warn(
    `${engine} is here, but ${absent.map(({ what }) => what).join(' and ')} ${absent.length > 1 ? 'are' : 'is'} not, so commands cannot be run in a sandbox.`,
    absent.map(({ mend }) => mend).join(' && '),
  );
}

/** What the command says, called through a session by a stand-in for a model: the very way that it will be called. */
async function runInContainer(
  workspace: Workspace,
  command: string,
  { settings, signal }: CheckContext,
): Promise<string> {
  const file = path.join(workspace.cwd, 'answers.json');
  const tool = sandboxedCommand(withSandbox(workspace, containerSandbox(settings.sandbox)));
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
    return fail(`The sandbox could not be tried: ${escapeInvisibleLine(text.trim())}`, manualRunHint(sandbox));
  if (leaks.length > 0)
    return fail(
      `The sandbox does not hold: inside it, ${leaks.join(', and ')}.`,
      `Look at what ${sandbox.engine} is told by its own configuration, and do not run commands you do not trust.`,
    );
  return ok(`A command in ${sandbox.image} by ${sandbox.engine} ${noLeaksMessage}`);
}
