// The container sandbox (podman or docker): runs each command in a new container, without network and privileges, removed when the command ends.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, type ExecResult, type FairleadError } from '../../core/index.ts';
import { assertVolumePresent, containerError, resolveTrustedEngine } from './container-engine.ts';
import { mountCheckScript } from './mount-check.ts';
import { expectedMounts, findHiddenPaths, findInnerMounts, visibleFolders, type InnerMounts } from './mounts.ts';
import { isEmptyDirectory } from './open-folder.ts';
import { findReachableSockets } from './reachable-sockets.ts';
import {
  argvAfterSetup,
  splitAccess,
  type Argv,
  type HostExec,
  type Sandbox,
  type SandboxAccess,
  type SandboxPaths,
} from './sandbox.ts';

/** Options of a container sandbox. The caller reads the environment. */
export type ContainerOptions = {
  /** The engine program, default `podman`; `docker` works too. */
  readonly engine?: string;
  /** Default `alpine`. */
  readonly image?: string;
  /** The named volume that keeps what commands write, default `llm-harness-tool-workspace`. */
  readonly volume?: string;
  /** The mount point of the volume inside, default `/workspace`. */
  readonly mountpoint?: string;
  /** The user id inside. Default: the own user id, or 65534 if it is root. */
  readonly user?: number;
};

const nobodyUid = 65_534;
const defaultTimeoutMs = 60_000;

type ContainerConfig = Required<ContainerOptions> & {
  /** The options of the user, if it is that of the files. */
  readonly userArgs?: readonly string[];
};

/** Creates a sandbox whose containers see a named volume and no file of this machine. An engine given by name is never searched for in these folders, where a command could have created it. */
export function containerSandbox(options: ContainerOptions = {}, untrustedRoots: readonly string[] = []): Sandbox {
  const config = resolveContainer(options);
  const { engine, image, volume, mountpoint } = config;
  let [present, ready] = [false, false];
  const openEngine = async (outside: HostExec): Promise<ContainerConfig> => {
    const container = { ...config, engine: resolveTrustedEngine(engine, untrustedRoots) };
    present ||= await assertVolumePresent(outside, container);
    return container;
  };
  return {
    name: path.basename(engine),
    description: `Commands run in ${image} and reach the volume ${volume}: no network, no file of yours.`,
    async findRefusal(outside) {
      try {
        await openEngine(outside);
        return undefined;
      } catch (error) {
        return errorMessage(error);
      }
    },
    async exec(command, given, outside) {
      const container = await openEngine(outside);
      if (!ready && isDocker(container)) await makeVolumeWritable(outside, container);
      ready = true;
      const mountArgs = ['-v', `${volume}:${mountpoint}`, '-w', mountpoint];
      return runInContainer(container, mountArgs, command, splitAccess(given).options, outside);
    },
  };
}

/** Creates a sandbox whose containers see the roots, for machines without a lighter sandbox. */
export function bindMountContainerSandbox(
  options: Pick<ContainerOptions, 'engine' | 'image'>,
  paths: SandboxPaths,
): Sandbox {
  // The files belong to the own user, so the container must run as that user.
  const own = resolveContainer({ ...options, user: process.getuid?.() ?? nobodyUid });
  const container = { ...own, userArgs: ownUserArgs(own) };
  const { engine, image } = container;
  assertMountableRoots(paths);
  return {
    name: path.basename(engine),
    description: `Commands run in ${image} and reach the working folder: no network, nothing else of yours.`,
    findHidden: () => findHiddenPaths(paths),
    async exec(command, given, outside) {
      const { access, options: execOptions } = splitAccess(given);
      const inner = findInnerMounts(paths, access, await findReachableSockets(paths, visibleFolders(paths, access)));
      const mountArgs = [...bindMounts(paths, access, inner), '-w', execOptions.cwd];
      const checkScript = process.platform === 'linux' ? mountCheckScript(expectedMounts(paths, access, inner)) : '';
      return runInContainer(container, mountArgs, argvAfterSetup(checkScript, command), execOptions, outside);
    },
  };
}

function assertMountableRoots({ roots }: SandboxPaths): void {
  const invalidRoot = roots.find((root) => root.includes(':'));
  if (invalidRoot !== undefined) throw colonError(invalidRoot);
}

const colonError = (at: string): FairleadError =>
  containerError(
    `${escapeInvisibleLine(at)} cannot be mounted: its name contains a colon. Rename it, then commands run.`,
  );

/** Podman without root maps the own user to root inside, unless told to keep it. The group is that of the user, not of root. */
function ownUserArgs(container: ContainerConfig): readonly string[] {
  const isRootless = !isDocker(container) && container.user !== 0;
  return [
    ...(isRootless ? ['--userns', 'keep-id'] : []),
    '-u',
    `${container.user}:${process.getgid?.() ?? container.user}`,
  ];
}

/** The files of a root change, so the mounts are determined for each command. */
function bindMounts(paths: SandboxPaths, access: SandboxAccess, inner: InnerMounts): readonly string[] {
  const mountReadOnly = (at: string): readonly string[] => ['-v', `${at}:${at}:ro`];
  const isMountable = (at: string): boolean => !at.includes(':');
  const invalid = [...inner.protected.map(({ mountPoint }) => mountPoint), ...inner.hidden.map(({ at }) => at)].find(
    (at) => !isMountable(at),
  );
  if (invalid !== undefined) throw colonError(invalid);
  return [
    ...(access.readable ?? []).filter(isMountable).flatMap(mountReadOnly),
    ...paths.roots.flatMap((root) => (access.access === 'read' ? mountReadOnly(root) : ['-v', `${root}:${root}`])),
    ...inner.protected.flatMap(({ mountPoint, bindOption }) => [
      '-v',
      `${mountPoint}:${mountPoint}${bindOption === '--ro-bind' ? ':ro' : ''}`,
    ]),
    // Not a temporary file system: podman copies into it what it covers.
    ...inner.hidden.flatMap(({ at, file }) => ['-v', `${file ? '/dev/null' : emptyFolder()}:${at}:ro`]),
  ];
}

let cachedEmptyFolder: string | undefined;

/** Returns an empty folder of the own user, removed at exit. */
function emptyFolder(): string {
  if (cachedEmptyFolder !== undefined && isEmptyDirectory(cachedEmptyFolder)) return cachedEmptyFolder;
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-empty-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return (cachedEmptyFolder = folder);
}

function resolveContainer(options: ContainerOptions): ContainerConfig {
  const ownUid = process.getuid?.() ?? nobodyUid;
  const container = {
    engine: 'podman',
    image: 'alpine',
    volume: 'llm-harness-tool-workspace',
    mountpoint: '/workspace',
    user: ownUid === 0 ? nobodyUid : ownUid,
    ...options,
  };
  // Any other value would mount a host folder or be parsed as an option.
  if (!/^[A-Za-z0-9][\w.-]*$/.test(container.volume))
    throw containerError(`The sandbox volume ${container.volume} is not a valid name.`);
  if (!/^\/[\w./-]*$/.test(container.mountpoint))
    throw containerError(`The sandbox mountpoint ${container.mountpoint} is not a valid path.`);
  if (!/^[\w]/.test(container.image)) throw containerError(`The sandbox image ${container.image} is not a valid name.`);
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
  // The default of the engine may exceed what is allowed if it runs inside a container itself.
  ['--ulimit', 'nofile=1024:1024'],
  ['--ulimit', 'nproc=4096:4096'],
].flat();

/** Runs one command in a new container. */
async function runInContainer(
  container: ContainerConfig,
  mountArgs: readonly string[],
  command: string | readonly string[],
  options: Parameters<Sandbox['exec']>[1],
  outside: HostExec,
): Promise<ExecResult> {
  const name = `fairlead-${randomUUID()}`;
  const argv = containerRunArgs(container, mountArgs, {
    name,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    command,
  });
  // The folder is a path inside the container. Outside, the engine starts in the current folder.
  const { cwd: _, ...hostOptions } = options;
  const release = removeWithProcess(removeArgs(container, name));
  let result: ExecResult;
  try {
    result = await outside(argv, hostOptions);
    // The client of the engine was killed, but the container is not its child.
    if (result.stopped) await outside(removeArgs(container, name), { timeoutMs: 10_000 });
  } finally {
    release();
  }
  if (result.code !== 125) return result;
  // The exit code of the engine for a container that could not be created.
  throw containerError(
    `${container.engine} could not start ${container.image}, so nothing was run: ${result.text.trim()}`,
  );
}

type ContainerRun = { readonly name: string; readonly timeoutMs: number; readonly command: string | readonly string[] };

/** Returns the complete command line: hardening options first, then user, mounts, folder and image, then the command as one argument. */
function containerRunArgs(
  container: ContainerConfig,
  mountArgs: readonly string[],
  { name, timeoutMs, command }: ContainerRun,
): readonly string[] {
  const { engine, user, userArgs, image } = container;
  // Podman stops the container at its timeout, even if this process has exited.
  const deadline = isDocker(container) ? [] : ['--timeout', String(Math.ceil(timeoutMs / 1000) + 5)];
  const commandArgv = typeof command === 'string' ? ['sh', '-c', command] : command;
  return [
    engine,
    'run',
    ...hardeningOptions,
    ...cpuLimitOptions(container, timeoutMs),
    '--name',
    name,
    ...deadline,
    ...(userArgs ?? ['-u', String(user)]),
    ...mountArgs,
    image,
    ...commandArgv,
  ];
}

const maxCpus = 2;

/** A rootless engine often cannot limit CPU shares. There each process has a CPU time limit instead. */
const cpuLimitOptions = (container: ContainerConfig, ms: number): readonly string[] =>
  isDocker(container) || process.getuid?.() === 0
    ? ['--cpus', String(maxCpus)]
    : ['--ulimit', `cpu=${Math.ceil(ms / 1000) * maxCpus}`];

/** Docker creates a volume for root, podman for its first user. This gives it to the user inside. */
async function makeVolumeWritable(outside: HostExec, container: ContainerConfig): Promise<void> {
  const { engine, user, volume, mountpoint, image } = container;
  const mountArgs = ['-v', `${volume}:${mountpoint}`, '-w', mountpoint];
  const probe = { name: `fairlead-${randomUUID()}`, timeoutMs: 10_000, command: 'test -w .' };
  const { code } = await outside(containerRunArgs(container, mountArgs, probe), { timeoutMs: 60_000 });
  if (code !== 1) return;
  const asRoot = ['--cap-add', 'CHOWN', '-u', '0', ...mountArgs, image];
  // Mounting a volume without files resets its owner to that of the image.
  const chownCommand = `touch .sandbox && chown ${user} . .sandbox`;
  await outside([engine, 'run', ...hardeningOptions, ...asRoot, 'sh', '-c', chownCommand], { timeoutMs: 60_000 });
}

/** Returns the command that removes a container. Podman waits ten seconds for it to stop unless given a timeout; docker does not know the option. */
const removeArgs = (container: ContainerConfig, name: string): Argv => [
  container.engine,
  'rm',
  '-f',
  ...(isDocker(container) ? [] : ['-t', '0']),
  name,
];

/** The commands that remove the running containers. */
const runningContainers = new Set<Argv>();
let hasExitListener = false;

/** Removes a container when this process ends: at exit at once, and after a kill by a process that waits for the end of its input. Returns a function that ends this. */
function removeWithProcess(removal: Argv): () => void {
  runningContainers.add(removal);
  if (!hasExitListener) {
    hasExitListener = true;
    process.on('exit', () => {
      for (const [program, ...args] of runningContainers)
        spawnSync(program, args, { stdio: 'ignore', timeout: 10_000 });
    });
  }
  const watcher = spawn('/bin/sh', ['-c', 'read _; exec "$@"', 'sh', ...removal], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without it, the container is removed in all other cases.
  watcher.on('error', () => {});
  watcher.unref();
  return () => {
    runningContainers.delete(removal);
    watcher.kill('SIGKILL');
  };
}
