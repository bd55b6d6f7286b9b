// Runs npm: finds its registry, and installs the native runtime atomically.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import { families } from '../families.ts';
import {
  toDownloadDiskError,
  diskFullError,
  offlineError,
  downloadCancelledError,
  untrustedCertificateCodes,
  untrustedCertificateError,
} from './errors.ts';
import { withFileLock } from './file-lock.ts';

/** The supported version of node-llama-cpp. */
export const runtimeVersion = '3.22.1';

/** The approximate size of the runtime on disk. */
export const runtimeBytes = 50e6;

/** The size during the installation, which includes the sources of llama.cpp. */
const peakBytes = 90e6;
const sourceBundle = path.join('node_modules', 'node-llama-cpp', 'llama', 'gitRelease.bundle');

/** The options of an npm process. */
export type NpmOptions = {
  /** The data directory: npm runs there, so that the settings of the current project are not used. */
  readonly directory: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The Node executable that runs npm; npm is also searched beside it. */
  readonly node?: string;
  readonly signal?: AbortSignal | undefined;
  readonly onWait?: () => void;
};

/** Returns the registry URL of npm on this machine. */
export async function getNpmRegistry(options: NpmOptions): Promise<string> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const answer =
    (await runNpm(['config', 'get', 'registry'], options.directory, options)).trim().split(/\s+/).at(-1) ?? '';
  if (URL.canParse(answer)) return answer;
  throw new FairleadError('embedded/npm-failed', `npm does not say where its registry is: ${answer}`, {
    blame: 'user',
    hint: 'Run "npm config get registry" and set it to an address.',
  });
}

/** Returns the package with the native code of a platform. */
export function platformPackage(platform: string = process.platform, arch: string = process.arch): string {
  const system = { linux: 'linux', darwin: 'mac', win32: 'win' }[platform];
  const chip = { x64: 'x64', arm64: 'arm64', arm: 'armv7l', riscv64: 'riscv64' }[arch];
  const name = system === 'mac' && chip === 'arm64' ? 'mac-arm64-metal' : `${system}-${chip}`;
  const known = ['linux-x64', 'linux-arm64', 'linux-armv7l', 'linux-riscv64', 'mac-x64', 'mac-arm64-metal'];
  if ([...known, 'win-x64', 'win-arm64'].includes(name)) return `@node-llama-cpp/${name}`;
  throw new FairleadError('embedded/unsupported', `The embedded model does not run on ${platform} ${arch}.`, {
    blame: 'user',
    hint: 'Use a model server or a provider with a key instead.',
  });
}

/** Returns the folder of the runtime. */
export const runtimeDirectory = (directory: string): string =>
  path.join(directory, 'runtime', `${runtimeVersion}-${process.platform}-${process.arch}`);

/** Whether the runtime is installed. The folder gets this name only after npm has finished. */
export const hasRuntime = (directory: string): boolean =>
  existsSync(path.join(runtimeDirectory(directory), 'node_modules'));

/** Returns the folder of the runtime, installed if it is missing. Nothing is compiled and no install script runs. */
export async function installRuntime(options: NpmOptions): Promise<string> {
  const { directory, signal, onWait } = options;
  const home = runtimeDirectory(directory);
  if (hasRuntime(directory)) return home;
  const native = platformPackage();
  try {
    await withFileLock(path.join(directory, 'runtime', 'lock'), { signal, ...(onWait ? { onWait } : {}) }, async () => {
      if (hasRuntime(directory)) return;
      await removeStaleInstalls(path.dirname(home));
      const newFolder = await mkdtemp(path.join(path.dirname(home), 'new-'));
      await writeFile(path.join(newFolder, 'package.json'), '{"private": true}\n');
      const packages = [`node-llama-cpp@${runtimeVersion}`, `${native}@${runtimeVersion}`];
      const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--save-exact'];
      await runNpm(['install', ...flags, '--prefix', newFolder, ...packages], newFolder, options).catch(
        async (error: unknown) => {
          await rm(newFolder, { recursive: true, force: true });
          throw error;
        },
      );
      await rm(path.join(newFolder, sourceBundle), { force: true });
      await rename(newFolder, home);
    });
  } catch (error) {
    if (signal?.aborted) throw downloadCancelledError('the runtime', { resumes: false, cause: signal.reason });
    throw toDownloadDiskError(error, directory, peakBytes);
  }
  return home;
}

/** Deletes the leftovers of interrupted installations. */
async function removeStaleInstalls(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => name.startsWith('new-'));
  await Promise.allSettled(left.map((name) => rm(path.join(folder, name), { recursive: true, force: true })));
}

async function runNpm(args: readonly string[], cwd: string, options: NpmOptions): Promise<string> {
  const { env = process.env, node = process.execPath, signal } = options;
  const [command, ...first] = findNpm(env, node);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(command, [...first, ...args], {
    cwd,
    env: { ...withoutModelKeys(env), npm_config_loglevel: 'error' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: an abort ends npm together with what npm started.
    detached: process.platform !== 'win32',
  });
  const end = (): void => killGroup(child);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  process.once('exit', end);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.once('error', (error) => reject('code' in error && error.code === 'ENOENT' ? npmMissingError(error) : error));
  child.once('close', (code) => (code === 0 ? resolve(stdout) : reject(toNpmError(stderr, cwd))));
  return promise.finally(() => {
    signal?.removeEventListener('abort', end);
    process.off('exit', end);
  });
}

/** Ends a process and its children. npm must not clean up: its folder is removed afterwards. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** npm needs no key of a model provider. */
const withoutModelKeys = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const secret = new Set(families.flatMap(({ keyVariables }) => keyVariables));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.has(name)));
};

/** Finds npm: the one that started this process, the one of this Node, or the one in PATH. */
function findNpm(env: NodeJS.ProcessEnv, node: string): [string, ...string[]] {
  const ours = env['npm_execpath'];
  if (ours !== undefined && /npm-cli\.c?js$/.test(ours) && existsSync(ours)) return [node, ours];
  const searchFolders = [path.dirname(node), path.join(path.dirname(node), '..', 'lib')];
  const folders =
    process.platform === 'win32' ? [...searchFolders, ...(env['PATH'] ?? '').split(path.delimiter)] : searchFolders;
  const found = folders
    .map((folder) => path.join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js'))
    .find((file) => existsSync(file));
  return found === undefined ? ['npm'] : [node, found];
}

const npmMissingError = (cause: unknown): FairleadError =>
  new FairleadError('embedded/no-npm', 'npm was not found, and the embedded model is fetched through it.', {
    blame: 'user',
    hint: 'Install npm (it comes with Node), or use a model server or a provider with a key.',
    cause,
  });

/** Returns the error message of npm in one sentence. */
function toNpmError(complaint: string, cwd: string): Error {
  if (/\b(ENOSPC|EDQUOT)\b/.test(complaint)) return diskFullError(cwd, peakBytes);
  const network = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED)\b/.exec(
    complaint,
  );
  if (network) return offlineError('the runtime', network[0], new Error(complaint.slice(0, 2000)));
  const certificate = complaint.match(/\b[A-Z_]+\b/g)?.find((word) => untrustedCertificateCodes.test(word));
  if (certificate !== undefined)
    return untrustedCertificateError('the runtime', certificate, new Error(complaint.slice(0, 2000)));
  const line = complaint
    .split('\n')
    .find((line) => /^npm (error|ERR!) (?!code)/.test(line))
    ?.replace(/^npm (error|ERR!) /, '');
  return new FairleadError('embedded/npm-failed', `npm could not fetch the runtime: ${line ?? 'it gave no reason'}`, {
    blame: 'user',
    hint: 'Check with "npm ping" that the registry answers, and try again; nothing was left behind.',
    cause: new Error(complaint.slice(0, 2000)),
  });
}
