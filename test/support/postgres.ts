// Starts a real PostgreSQL for a test file: own data, a free loopback port, and removed when the process ends, even by SIGKILL.
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { postgresCacheDir, findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';

/** A running PostgreSQL. */
export type PostgresServer = {
  /** Its URL with user and password; the same after a restart. */
  readonly url: string;
  /** The pid of the running server. */
  readonly pid: number;
  /** The version of its binaries. */
  readonly version: string;
  /** Creates an empty database, or a copy of one without connections, and returns its URL. */
  createDatabase(like?: string): Promise<string>;
  /** Stops it at once, as a crash does; committed data stays. */
  stop(): Promise<void>;
  /** Starts it again on the same data and port; stops it first if it runs. */
  restart(): Promise<void>;
  /** Stops it and deletes its data. */
  close(): Promise<void>;
};

// Small, with many connections; the settings for durability keep their defaults.
const serverSettings = [
  'shared_buffers=16MB',
  'max_connections=200',
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  // After a crash it syncs its data before it accepts connections; file by file that takes seconds.
  ...(process.platform === 'linux' ? ['recovery_init_sync_method=syncfs'] : []),
];

// The standard input closes when this process ends, even by SIGKILL: then the server is stopped and its data deleted.
// The signal is sent repeatedly, because a server that has just been started ignores it.
const serverScript = `
exec 3<&0
"$1/postgres" -D "$2/data" -p "$3" $4 >>"$2/log" 2>&1 </dev/null 3<&- &
server=$!
( read -r _ <&3; : >"$2/left"; while kill -QUIT $server; do sleep 0.1; done ) 2>/dev/null &
wait $server
kill $! 2>/dev/null
[ ! -e "$2/left" ] || rm -rf "$2"
`;

let runningServer: Promise<PostgresServer | string> | undefined;

/** The PostgreSQL of this process, started by the first call; or the reason why there is none, with which tests are skipped. */
export function startPostgres(): Promise<PostgresServer | string> {
  runningServer ??= openPostgres(findPostgresBinaries());
  return runningServer;
}

async function openPostgres(binaries: PostgresBinaries | string): Promise<PostgresServer | string> {
  if (typeof binaries === 'string') return binaries;
  const directory = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'fairlead-postgres-'));
  createDataDir(binaries, directory);
  const [first, port] = await startOnFreePort(binaries, directory);
  let server = first;
  const password = fs.readFileSync(path.join(directory, 'password'), 'utf8');
  const url = `postgres://fairlead:${password}@127.0.0.1:${port}/postgres`;
  const stop = async (): Promise<void> => {
    if (server.exitCode === null) process.kill(readServerPid(directory), 'SIGQUIT');
    await waitForExit(server);
  };
  return {
    url,
    get pid() {
      return readServerPid(directory);
    },
    version: binaries.version,
    createDatabase: (like) => createDatabase(url, like),
    stop,
    async restart() {
      await stop();
      server = await startServer(binaries, directory, port);
    },
    async close() {
      runningServer = undefined;
      server.stdin?.end();
      await waitForExit(server);
      fs.rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Another process may take the port before the server does. */
async function startOnFreePort(
  binaries: PostgresBinaries,
  directory: string,
): Promise<readonly [ChildProcess, number]> {
  for (let tries = 1; ; tries++) {
    const port = await findFreePort();
    try {
      return [await startServer(binaries, directory, port), port];
    } catch (error) {
      if (tries === 5 || !String(error).includes('could not bind')) throw error;
    }
  }
}

/** How long the start of a server may take, in milliseconds; then its log is reported. */
const startMs = 60_000;

async function startServer(
  { bin, env, user }: PostgresBinaries,
  directory: string,
  port: number,
): Promise<ChildProcess> {
  // A killed server leaves its pid file behind.
  const before = readServerState(directory).join('\n');
  const options = serverSettings.map((setting) => `-c ${setting}`).join(' ');
  const child = spawn('/bin/sh', ['-c', serverScript, 'postgres', bin, directory, String(port), options], {
    ...user,
    env,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // The process of a test that does not close the server can still end: that stops the server.
  child.unref();
  (child.stdin as Socket).unref();
  const end = performance.now() + startMs;
  while (readServerState(directory)[7]?.trim() !== 'ready' || readServerState(directory).join('\n') === before) {
    if (child.exitCode !== null || performance.now() > end)
      assert.fail(fs.readFileSync(path.join(directory, 'log'), 'utf8'));
    await delay(10);
  }
  return child;
}

async function waitForExit(child: ChildProcess): Promise<void> {
  child.ref();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** The first line of the pid file is the pid of the server, the last one its state. */
function readServerState(directory: string): readonly string[] {
  try {
    return fs.readFileSync(path.join(directory, 'data/postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function readServerPid(directory: string): number {
  const [pid] = readServerState(directory);
  assert.ok(pid, 'PostgreSQL does not run.');
  return Number(pid);
}

/** Copies an empty cluster, which is created once per version and user. */
function createDataDir({ bin, env, user, version }: PostgresBinaries, directory: string): void {
  const template = path.join(postgresCacheDir, `${version}-${user.uid ?? process.getuid?.()}`);
  if (fs.existsSync(template)) return copyDir(template, directory);
  const password = path.join(directory, 'password');
  fs.writeFileSync(password, randomBytes(12).toString('hex'), { mode: 0o600 });
  if (user.uid !== undefined) for (const file of [directory, password]) fs.chownSync(file, user.uid, user.uid);
  const args = ['-U', 'fairlead', '-A', 'scram-sha-256', `--pwfile=${password}`, '-E', 'UTF8', '--locale=C'];
  execFileSync(path.join(bin, 'initdb'), ['-D', path.join(directory, 'data'), ...args], { ...user, env, cwd: '/' });
  fs.mkdirSync(postgresCacheDir, { recursive: true });
  const fresh = fs.mkdtempSync(`${template}-`);
  copyDir(directory, fresh);
  try {
    fs.renameSync(fresh, template);
  } catch (error) {
    // Another test file was faster.
    if (!fs.existsSync(template)) throw error;
    fs.rmSync(fresh, { recursive: true });
  }
}

function copyDir(from: string, to: string): void {
  execFileSync('cp', ['-Rp', `${from}/.`, to]);
}

/** Finds a loopback port that is free now. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function createDatabase(url: string, like = 'template1'): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${like}`);
  } finally {
    await client.end();
  }
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}
