// Builds the image from the packed package and starts containers in a real engine as the compose file does; removed with the test.
import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { packPackage, repoRoot } from './npm-package.ts';

/** The result of a command of the engine. */
export type CommandResult = { readonly code: number; readonly out: string; readonly err: string };

/** A running container. */
export type Container = {
  readonly name: string;
  /** Runs another program in the container. */
  exec(...args: readonly string[]): Promise<CommandResult>;
  /** Runs the health check once, as the engine would, and returns the health. */
  health(): Promise<string>;
  logs(): Promise<string>;
  /** Stops it, and returns its exit code. */
  stop(): Promise<number>;
};

/** The options of a container. */
export type ContainerStartOptions = {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A volume that is kept after the container. */
  readonly data?: string;
  /** Additional options for the engine. */
  readonly security?: readonly string[];
};

/** Base images: one of these must be on this machine, because nothing is pulled. */
const baseImages = [
  process.env['FAIRLEAD_NODE_IMAGE'],
  'localhost/fairlead-node:24',
  'docker.io/library/node:24-bookworm-slim',
].flatMap((each) => each ?? []);

/** Whether the package is also built inside the image, from its sources and the registry, which takes minutes. */
const buildsFromSource = process.env['FAIRLEAD_WHOLE_IMAGE'] !== undefined;
const timeoutMs = buildsFromSource ? 540_000 : 240_000;
/** The limit on open files applies to the engine too, which cannot raise it. */
const ulimitArgs = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];
/** The cached build of the system layer: only it needs the network, and it rarely changes. */
const systemImage = 'localhost/fairlead-system:test';

const hasImage = (image: string): boolean => spawnSync('podman', ['image', 'exists', image]).status === 0;

/** The base image, or the reason why no container can be tested here. */
export function findBaseImage(): { readonly base: string } | { readonly missing: string } {
  // On other systems containers run in a virtual machine, which cannot reach the servers of a test.
  if (process.platform !== 'linux') return { missing: 'containers are tried on Linux only' };
  const base = baseImages.find(hasImage);
  return base === undefined ? { missing: `no podman with an image called ${baseImages.join(' or ')} here` } : { base };
}

/** Runs a command of the engine asynchronously, because a model server in the test process may be needed meanwhile. */
export function podman(...args: readonly string[]): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  // After SIGTERM it would report success.
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 1 << 26 } as const;
  execFile('podman', args, { cwd: repoRoot, ...limits }, (error, out, err) =>
    resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
  );
  return promise;
}

async function runPodman(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await podman(...args);
  if (code !== 0)
    throw new Error(`podman ${args.join(' ')} ended with ${code}: ${out.slice(-2000)}${err.slice(-2000)}`);
  return out.trim();
}

/** Builds the image and returns its name. Its first stage, the build of the package, is replaced by the output of `npm run build`, unless FAIRLEAD_WHOLE_IMAGE is set. */
export async function buildImage(base: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-image-'));
  try {
    const about = [
      'build',
      '--format',
      'docker',
      ...ulimitArgs,
      '--network',
      'host',
      '--build-arg',
      `NODE_IMAGE=${base}`,
    ];
    await runPodman(...about, '--target', 'system', '--tag', systemImage, '.');
    mkdirSync(path.join(folder, 'tmp'));
    if (!buildsFromSource) renameSync(packPackage(folder).tarball, path.join(folder, 'tmp/fairlead.tgz'));
    const image = `localhost/fairlead-test:${randomUUID()}`;
    const built = buildsFromSource ? [] : ['--build-context', `build=${folder}`];
    await runPodman(...about, ...built, '--target', 'image', '--tag', image, '.');
    return image;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes the image. */
export const removeImage = (image: string): Promise<CommandResult> => podman('rmi', '--force', image);

const removeContainer = (container: string): Promise<CommandResult> =>
  podman('rm', '--force', '--volumes', '--ignore', '--time=0', container);

/** Creates a volume that is removed with the test. */
export async function createVolume(t: TestContext): Promise<string> {
  const name = `fairlead-test-${randomUUID()}`;
  await runPodman('volume', 'create', name);
  t.after(async () => {
    // With --force it would remove its containers too, and leave their other volumes.
    const { out } = await podman('ps', '--all', '--quiet', `--filter=volume=${name}`);
    for (const id of out.split('\n').filter(Boolean)) await removeContainer(id);
    await podman('volume', 'rm', name);
  });
  return name;
}

/** Starts a container with the limits of the compose file, in the host network, where the test's servers are. */
export async function startContainer(
  t: TestContext,
  image: string,
  { args, env = {}, data, security = [] }: ContainerStartOptions,
): Promise<Container> {
  const name = `fairlead-test-${randomUUID()}`;
  t.after(() => removeContainer(name));
  await runPodman(
    'run',
    '--detach',
    `--name=${name}`,
    ...ulimitArgs,
    `--timeout=${timeoutMs / 1000}`,
    '--network=host',
    '--init',
    '--read-only',
    '--tmpfs=/tmp',
    '--cap-drop=ALL',
    ...['no-new-privileges', ...security].map((rule) => `--security-opt=${rule}`),
    ...Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...(data === undefined ? [] : ['--volume', `${data}:/data`]),
    image,
    ...args,
  );
  const look = (what: string): Promise<string> => runPodman('inspect', '--format', what, name);
  return {
    name,
    exec: (...words) => podman('exec', name, ...words),
    async health() {
      await podman('healthcheck', 'run', name);
      return look('{{.State.Health.Status}}');
    },
    async logs() {
      const { out, err } = await podman('logs', name);
      return out + err;
    },
    async stop() {
      await runPodman('stop', '--time', '60', name);
      return Number(await look('{{.State.ExitCode}}'));
    },
  };
}

/** Waits until a condition holds for a container; fails with its output. */
export async function waitForContainer(
  what: string,
  container: Container,
  holds: () => Promise<boolean>,
): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await pause(100))
    if (Date.now() > end) throw new Error(`Not so after a minute: ${what}. ${await container.logs()}`);
}

/** A free port outside the range that the system assigns. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
