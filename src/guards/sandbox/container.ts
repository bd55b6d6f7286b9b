// Containers of podman or docker: a system of their own around one command, without network and rights, and gone when it ends.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { FairleadError, type ExecResult } from '../../core/index.ts';
import { findTrustedProgram } from './bubblewrap.ts';
import type { SandboxPaths, HostExec, Sandbox } from './sandbox.ts';
import { hiddenPaths, readOnlyMounts } from './mounts.ts';

/** What commands run in. The environment is read by the caller. */
export type ContainerOptions = {
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

const nobodyUid = 65_534;
const defaultTimeoutMs = 60_000;

type ContainerConfig = Required<ContainerOptions>;

/** Confines commands by a container that sees a named volume and no file of this machine. An engine that is only named is never one of these folders, where a command could have left it. */
export function containerSandbox(options: ContainerOptions = {}, apart: readonly string[] = []): Sandbox {
  const named = resolveContainer(options);
  const { engine, image, volume, mountpoint } = named;
  let ready = false;
  return {
    name: path.basename(engine),
    description: `Commands run in ${image} and reach the volume ${volume}: no network, no file of yours.`,
    async exec(command, given, outside) {
      const container = { ...named, engine: resolveTrustedEngine(engine, apart) };
      ready ||= await assertEngineReady(outside, container);
      const place = ['-v', `${volume}:${mountpoint}`, '-w', mountpoint];
      return runInContainer(container, place, command, given, outside);
    },
  };
}

/** Confines commands by a container that sees the roots, for machines without anything lighter. */
export function bindMountContainerSandbox(
  options: Pick<ContainerOptions, 'engine' | 'image'>,
  confines: SandboxPaths,
): Sandbox {
  // The files are ours, so the user inside has to be us.
  const container = resolveContainer({ ...options, user: process.getuid?.() ?? nobodyUid });
  const { engine, image } = container;
  const mounts = bindMounts(confines);
  return {
    name: path.basename(engine),
    description: `Commands run in ${image} and reach the working folder: no network, nothing else of yours.`,
    exec: async (command, given, outside) =>
      runInContainer(container, [...mounts, '-w', given.cwd], command, given, outside),
  };
}

function bindMounts(confines: SandboxPaths): readonly string[] {
  const { roots, home } = confines;
  const odd = roots.find((root) => root.includes(':'));
  if (odd !== undefined) throw containerError(`The folder ${odd} cannot be mounted: there is a colon in its name.`);
  return [
    ...roots.flatMap((root) => ['-v', `${root}:${root}`]),
    ...roots
      .flatMap((root) => readOnlyMounts(root, home))
      .flatMap(({ mountPoint, bindOption }) => [
        '-v',
        `${mountPoint}:${mountPoint}${bindOption === '--ro-bind' ? ':ro' : ''}`,
      ]),
    ...hiddenPaths(confines).flatMap(({ at, file }) => (file ? ['-v', `/dev/null:${at}:ro`] : ['--tmpfs', at])),
  ];
}

function resolveContainer(options: ContainerOptions): ContainerConfig {
  const own = process.getuid?.() ?? nobodyUid;
  const container = {
    engine: 'podman',
    image: 'alpine',
    volume: 'llm-harness-tool-workspace',
    mountpoint: '/workspace',
    user: own === 0 ? nobodyUid : own,
    ...options,
  };
  // Anything else in this place would mount a folder of the host, or be read as an option.
  if (!/^[A-Za-z0-9][\w.-]*$/.test(container.volume))
    throw containerError(`The sandbox volume ${container.volume} is not a name.`);
  if (!/^\/[\w./-]*$/.test(container.mountpoint))
    throw containerError(`The sandbox mountpoint ${container.mountpoint} is no path.`);
  if (!/^[\w]/.test(container.image)) throw containerError(`The sandbox image ${container.image} is not a name.`);
  return container;
}

/** Docker and podman differ in a few options. */
const isDocker = ({ engine }: ContainerConfig): boolean => path.basename(engine) === 'docker';

const hardeningOptions: readonly string[] = [
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

/** One command in a container of its own. */
async function runInContainer(
  container: ContainerConfig,
  place: readonly string[],
  command: string | readonly string[],
  options: Parameters<Sandbox['exec']>[1],
  outside: HostExec,
): Promise<ExecResult> {
  const name = `fairlead-${randomUUID()}`;
  const argv = containerRunArgs(container, place, { name, timeoutMs: options.timeoutMs ?? defaultTimeoutMs, command });
  // The folder is one inside: outside the engine starts where we are.
  const { cwd: _, ...how } = options;
  const ran = await outside(argv, how);
  // The engine's client is dead, but the container is not its child.
  if (ran.stopped) await removeContainer(outside, container, name);
  if (ran.code !== 125) return ran;
  // The engine's own exit code for a container that could not be made.
  throw containerError(
    `${container.engine} could not start ${container.image}, so nothing was run: ${ran.text.trim()}`,
  );
}

type ContainerRun = { readonly name: string; readonly timeoutMs: number; readonly command: string | readonly string[] };

/** The whole call: the engine's hardening first, then user, mounts, folder and image, then the command as one argument. */
function containerRunArgs(
  container: ContainerConfig,
  place: readonly string[],
  { name, timeoutMs, command }: ContainerRun,
): readonly string[] {
  const { engine, user, image } = container;
  // Podman ends a container by itself at its time, even where we are no longer there to do it.
  const deadline = isDocker(container) ? [] : ['--timeout', String(Math.ceil(timeoutMs / 1000) + 5)];
  const words = typeof command === 'string' ? ['sh', '-c', command] : command;
  return [
    engine,
    'run',
    ...hardeningOptions,
    ...cpuLimitOptions(container, timeoutMs),
    '--name',
    name,
    ...deadline,
    '-u',
    String(user),
    ...place,
    image,
    ...words,
  ];
}

const maxCpus = 2;

/** An engine that does not run as root may often not share out processors: there each process has a time of its own. */
const cpuLimitOptions = (container: ContainerConfig, ms: number): readonly string[] =>
  isDocker(container) || process.getuid?.() === 0
    ? ['--cpus', String(maxCpus)]
    : ['--ulimit', `cpu=${Math.ceil(ms / 1000) * maxCpus}`];

function resolveTrustedEngine(engine: string, roots: readonly string[]): string {
  if (roots.length === 0 || path.isAbsolute(engine)) return engine;
  const found = findTrustedProgram(engine, { roots, path: process.env['PATH'] ?? '' });
  if (found === undefined) throw engineMissingError(engine);
  return found;
}

const engineMissingError = (engine: string, cause?: unknown): FairleadError =>
  containerError(
    `There is no ${engine} on this machine, so nothing was run. Install it (apt-get install podman), or set SANDBOX_CONTAINER_RUNTIME_EXECUTABLE to the engine that is there.`,
    cause,
  );

async function assertEngineReady(outside: HostExec, container: ContainerConfig): Promise<true> {
  const { engine, volume } = container;
  let ran: ExecResult;
  try {
    ran = await outside([engine, 'volume', 'inspect', volume], { timeoutMs: 10_000 });
  } catch (cause) {
    throw engineMissingError(engine, cause);
  }
  if (ran.code !== 0 && !/no such|not found|no volume/i.test(ran.text))
    throw containerError(`${engine} does not work here: ${ran.text.trim()}`);
  if (ran.code !== 0)
    throw containerError(
      `The sandbox volume does not exist, so nothing was run. Make it: ${engine} volume create ${volume}`,
    );
  if (isDocker(container)) await makeVolumeWritable(outside, container);
  return true;
}

/** Docker gives a new volume to root, podman to its first user: here it is given to the user inside. */
async function makeVolumeWritable(outside: HostExec, container: ContainerConfig): Promise<void> {
  const { engine, user, volume, mountpoint, image } = container;
  const place = ['-v', `${volume}:${mountpoint}`, '-w', mountpoint];
  const probe = { name: `fairlead-${randomUUID()}`, timeoutMs: 10_000, command: 'test -w .' };
  const { code } = await outside(containerRunArgs(container, place, probe), { timeoutMs: 60_000 });
  if (code !== 1) return;
  const asRoot = ['--cap-add', 'CHOWN', '-u', '0', ...place, image];
  // A volume without any file gets its owner back from the image each time it is mounted.
  const give = `touch .sandbox && chown ${user} . .sandbox`;
  await outside([engine, 'run', ...hardeningOptions, ...asRoot, 'sh', '-c', give], { timeoutMs: 60_000 });
}

async function removeContainer(outside: HostExec, container: ContainerConfig, name: string): Promise<void> {
  // Podman waits ten seconds for a container to end by itself unless told not to; docker does not know the option.
  const now = isDocker(container) ? [] : ['-t', '0'];
  await outside([container.engine, 'rm', '-f', ...now, name], { timeoutMs: 10_000 });
}

const containerError = (message: string, cause?: unknown): FairleadError =>
  new FairleadError('sandbox/unusable', message, { blame: 'user', ...(cause === undefined ? {} : { cause }) });
