// Runs a command in a container of its own: no network, no rights, and one volume that outlives it.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { FairleadError, output, type Output, type Ran, type Tool, type Workspace } from '../core/index.ts';
import { ranOutput } from './run-command.ts';

/** What a sandboxed command runs in. The environment is read by the caller. */
export type SandboxOptions = {
  /** The engine's program, `podman` unless given; `docker` works too. */
  readonly engine?: string;
  /** `alpine` unless given. */
  readonly image?: string;
  /** The named volume that keeps what commands write, `llm-harness-tool-workspace` unless given. */
  readonly volume?: string;
  /** Where the volume is seen inside, `/workspace` unless given. */
  readonly mountpoint?: string;
  /** The user id inside: ours, or nobody's where we are root, unless given. */
  readonly user?: number;
};

const usualSeconds = 60;
const mostSeconds = 600;
const nobody = 65_534;

type Sandbox = Required<SandboxOptions>;

/** The tool that runs commands in a container. */
export function sandboxedCommand(workspace: Workspace, options: SandboxOptions = {}): Tool {
  const sandbox = sandboxOf(options);
  let ready = false;
  return {
    name: 'execute_sandboxed_command',
    description: `Run a shell command in a container without network. Files in ${sandbox.mountpoint} persist; the user's files are not there.`,
    input: {
      type: 'object',
      properties: {
        command: { type: 'string' },
        timeout_s: { type: 'integer', minimum: 1, maximum: mostSeconds, description: `${usualSeconds} unless given.` },
      },
      required: ['command'],
      additionalProperties: false,
    },
    effect: 'write',
    async run(input, { signal, progress }) {
      const { command, timeout_s: seconds = usualSeconds } = input as { command: string; timeout_s?: number };
      ready ||= await mustBeReady(workspace, sandbox);
      const name = `fairlead-${randomUUID()}`;
      const ran = await workspace.exec(runArgv(sandbox, { name, seconds, command }), {
        signal,
        timeoutMs: seconds * 1000,
        ...(progress ? { onOutput: progress } : {}),
      });
      // The engine's client is dead, but the container is not its child.
      if (ran.stopped) await remove(workspace, sandbox, name);
      return ran.code === 125 ? engineFailed(sandbox, ran) : ranOutput(ran, seconds);
    },
  };
}

function sandboxOf(options: SandboxOptions): Sandbox {
  const own = process.getuid?.() ?? nobody;
  const sandbox = {
    engine: 'podman',
    image: 'alpine',
    volume: 'llm-harness-tool-workspace',
    mountpoint: '/workspace',
    user: own === 0 ? nobody : own,
    ...options,
  };
  // Anything else in this place would mount a folder of the host, or be read as an option.
  if (!/^[A-Za-z0-9][\w.-]*$/.test(sandbox.volume)) throw bad(`The sandbox volume ${sandbox.volume} is not a name.`);
  if (!/^\/[\w./-]*$/.test(sandbox.mountpoint)) throw bad(`The sandbox mountpoint ${sandbox.mountpoint} is no path.`);
  if (!/^[\w]/.test(sandbox.image)) throw bad(`The sandbox image ${sandbox.image} is not a name.`);
  return sandbox;
}

/** Docker and podman differ in a few options. */
const isDocker = ({ engine }: Sandbox): boolean => path.basename(engine) === 'docker';

const hardening: readonly string[] = [
  '--rm',
  ['--network', 'none'],
  ['--security-opt', 'no-new-privileges'],
  ['--cap-drop', 'ALL'],
  '--read-only',
  ['--tmpfs', '/tmp'],
  ['--memory', '512m'],
  ['--pids-limit', '256'],
  // An engine's own defaults are higher than it may set where it runs inside a container itself.
  ['--ulimit', 'nofile=1024:1024'],
  ['--ulimit', 'nproc=4096:4096'],
].flat();

type Wanted = { readonly name: string; readonly seconds: number; readonly command: string };

/** The whole call: the engine's hardening first, then user, volume, folder and image, then the command as one argument. */
function runArgv(sandbox: Sandbox, { name, seconds, command }: Wanted): readonly string[] {
  const { engine, user, volume, mountpoint, image } = sandbox;
  // Podman ends a container by itself at its time, even where we are no longer there to do it.
  const deadline = isDocker(sandbox) ? [] : ['--timeout', String(seconds + 5)];
  const shape = ['-u', String(user), '-v', `${volume}:${mountpoint}`, '-w', mountpoint, image];
  return [engine, 'run', ...hardening, '--name', name, ...deadline, ...shape, 'sh', '-c', command];
}

async function mustBeReady(workspace: Workspace, sandbox: Sandbox): Promise<true> {
  const { engine, volume } = sandbox;
  let ran: Ran;
  try {
    ran = await workspace.exec([engine, 'volume', 'inspect', volume], { timeoutMs: 10_000 });
  } catch (cause) {
    throw bad(
      `There is no ${engine} on this machine, so nothing was run. Install it (apt-get install podman), or set SANDBOX_CONTAINER_RUNTIME_EXECUTABLE to the engine that is there.`,
      cause,
    );
  }
  if (ran.code !== 0 && !/no such|not found|no volume/i.test(ran.text))
    throw bad(`${engine} does not work here: ${ran.text.trim()}`);
  if (ran.code !== 0)
    throw bad(`The sandbox volume does not exist, so nothing was run. Make it: ${engine} volume create ${volume}`);
  if (isDocker(sandbox)) await makeWritable(workspace, sandbox);
  return true;
}

/** Docker gives a new volume to root, podman to its first user: here it is given to the user inside. */
async function makeWritable(workspace: Workspace, sandbox: Sandbox): Promise<void> {
  const { engine, user, volume, mountpoint, image } = sandbox;
  const probe = { name: `fairlead-${randomUUID()}`, seconds: 10, command: 'test -w .' };
  const { code } = await workspace.exec(runArgv(sandbox, probe), { timeoutMs: 60_000 });
  if (code !== 1) return;
  const asRoot = ['--cap-add', 'CHOWN', '-u', '0', '-v', `${volume}:${mountpoint}`, '-w', mountpoint, image];
  // A volume without any file gets its owner back from the image each time it is mounted.
  const give = `touch .sandbox && chown ${user} . .sandbox`;
  await workspace.exec([engine, 'run', ...hardening, ...asRoot, 'sh', '-c', give], { timeoutMs: 60_000 });
}

async function remove(workspace: Workspace, sandbox: Sandbox, name: string): Promise<void> {
  // Podman waits ten seconds for a container to end by itself unless told not to; docker does not know the option.
  const now = isDocker(sandbox) ? [] : ['-t', '0'];
  await workspace.exec([sandbox.engine, 'rm', '-f', ...now, name], { timeoutMs: 10_000 });
}

/** The engine's own exit code for a container that could not be made. */
const engineFailed = ({ engine, image }: Sandbox, { text }: Ran): Output =>
  output({ failed: true, text: `${engine} could not start ${image}, so nothing was run: ${text.trim()}` });

const bad = (message: string, cause?: unknown): FairleadError =>
  new FairleadError('tool/no-sandbox', message, { blame: 'user', ...(cause === undefined ? {} : { cause }) });
