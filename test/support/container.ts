// Containers of our image in a real engine: built of what was packed, started as the compose file starts them, and gone with the test.
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

/** How a command of the engine came out. */
export type CommandResult = { readonly code: number; readonly out: string; readonly err: string };

/** A container that was started. */
export type Container = {
  readonly name: string;
  /** Runs a program beside ours. */
  exec(...args: readonly string[]): Promise<CommandResult>;
  /** Does the health check once, as the engine would, and says how it stands. */
  health(): Promise<string>;
  logs(): Promise<string>;
  /** Asks it to end, and gives its exit code. */
  stop(): Promise<number>;
};

/** How a container is started. */
export type ContainerStartOptions = {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A volume that outlives it. */
  readonly data?: string;
  /** Rules of the engine besides the usual. */
  readonly security?: readonly string[];
};

/** The image that ours is built on: one of these must be here, because nothing is pulled. */
const baseImages = [
  process.env['FAIRLEAD_NODE_IMAGE'],
  'localhost/fairlead-node:24',
  'docker.io/library/node:24-bookworm-slim',
].flatMap((each) => each ?? []);

/** Whether the package is built inside too, from its sources and the registry, which takes minutes. */
const buildsFromSource = process.env['FAIRLEAD_WHOLE_IMAGE'] !== undefined;
const timeoutMs = buildsFromSource ? 540_000 : 240_000;
/** What may be open is bounded for the engine too, which may not raise it. */
const ulimitArgs = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];
/** Where the build of the system is kept: only it needs the network, and it seldom changes. */
const systemImage = 'localhost/fairlead-system:test';

const hasImage = (image: string): boolean => spawnSync('podman', ['image', 'exists', image]).status === 0;

/** The image to build on, or why no container can be tried here. */
export function findBaseImage(): { readonly base: string } | { readonly missing: string } {
  // Elsewhere containers run in a machine of their own, which does not reach the servers of a test.
  if (process.platform !== 'linux') return { missing: 'containers are tried on Linux only' };
  const base = baseImages.find(hasImage);
  return base === undefined ? { missing: `no podman with an image called ${baseImages.join(' or ')} here` } : { base };
}

/** Runs a command of the engine. A model of the test may be asked meanwhile, so nothing is waited for at a stand. */
export function podman(...args: readonly string[]): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  // Asked to end, it would say that all went well.
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

/** Builds the image and gives its name. Its first stage, the build of the package, is what `npm run build` made, unless FAIRLEAD_WHOLE_IMAGE is set. */
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

/** Removes what was built. */
export const removeImage = (image: string): Promise<CommandResult> => podman('rmi', '--force', image);

const removeContainer = (container: string): Promise<CommandResult> =>
  podman('rm', '--force', '--volumes', '--ignore', '--time=0', container);

/** A volume that is gone with the test. */
export async function createVolume(t: TestContext): Promise<string> {
  const name = `fairlead-test-${randomUUID()}`;
  await runPodman('volume', 'create', name);
  t.after(async () => {
    // Forced, it would take its containers along and leave their other volumes.
    const { out } = await podman('ps', '--all', '--quiet', `--filter=volume=${name}`);
    for (const id of out.split('\n').filter(Boolean)) await removeContainer(id);
    await podman('volume', 'rm', name);
  });
  return name;
}

/** Starts a container with the bounds of the compose file, in the network of this machine, where the test's servers are. */
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

/** Waits until something holds of a container; fails with its words. */
export async function waitForContainer(
  what: string,
  container: Container,
  holds: () => Promise<boolean>,
): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await pause(100))
    if (Date.now() > end) throw new Error(`Not so after a minute: ${what}. ${await container.logs()}`);
}

/** A port that nobody has, from where the system hands none out by itself. */
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
