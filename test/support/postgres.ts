// Starts a real PostgreSQL for a test file: its own data, a free port of the loopback, and gone with the process however that ends.
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
  /** Where it answers, with its user and password; the same after a restart. */
  readonly url: string;
  /** The process id of the server that runs now. */
  readonly pid: number;
  /** The version of its programs. */
  readonly version: string;
  /** Makes an empty database, or a copy of one that nobody uses, and gives its URL. */
  createDatabase(like?: string): Promise<string>;
  /** Stops it at once, as a crash does; what was committed stays. */
  stop(): Promise<void>;
  /** Starts it again on the same data and port; stops it at once before, when it runs. */
  restart(): Promise<void>;
  /** Stops it and deletes its data. */
  close(): Promise<void>;
};

// Small and many connections; what makes a commit durable stays as PostgreSQL has it.
const serverSettings = [
  'shared_buffers=16MB',
  'max_connections=200',
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  // After a crash it syncs its data before it answers; file by file that takes seconds.
  ...(process.platform === 'linux' ? ['recovery_init_sync_method=syncfs'] : []),
];

// Our end of its standard input closes when we end, even by SIGKILL: then the server is stopped and its data deleted.
// It is told so until it is gone, because a server that has just been started does not hear it yet.
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

/** The PostgreSQL of this process, started when first asked for; or why there can be none, for tests to be skipped by that name. */
export function startPostgres(): Promise<PostgresServer | string> {
  runningServer ??= openPostgres(findPostgresBinaries());
  return runningServer;
}

async function openPostgres(binaries: PostgresBinaries | string): Promise<PostgresServer | string> {
  if (typeof binaries === 'string') return binaries;
  const place = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'fairlead-postgres-'));
  createDataDir(binaries, place);
  const [first, port] = await startOnFreePort(binaries, place);
  let server = first;
  const password = fs.readFileSync(path.join(place, 'password'), 'utf8');
  const url = `postgres://fairlead:${password}@127.0.0.1:${port}/postgres`;
  const stop = async (): Promise<void> => {
    if (server.exitCode === null) process.kill(readServerPid(place), 'SIGQUIT');
    await waitForExit(server);
  };
  return {
    url,
    get pid() {
      return readServerPid(place);
    },
    version: binaries.version,
    createDatabase: (like) => createDatabase(url, like),
    stop,
    async restart() {
      await stop();
      server = await startServer(binaries, place, port);
    },
    async close() {
      runningServer = undefined;
      server.stdin?.end();
      await waitForExit(server);
      fs.rmSync(place, { recursive: true, force: true });
    },
  };
}

/** Another process may take the port before the server does. */
async function startOnFreePort(binaries: PostgresBinaries, place: string): Promise<readonly [ChildProcess, number]> {
  for (let tries = 1; ; tries++) {
    const port = await findFreePort();
    try {
      return [await startServer(binaries, place, port), port];
    } catch (error) {
      if (tries === 5 || !String(error).includes('could not bind')) throw error;
    }
  }
}

/** Milliseconds in which a server is ready, or its log is told. */
const startMs = 60_000;

async function startServer({ bin, env, user }: PostgresBinaries, place: string, port: number): Promise<ChildProcess> {
  // A server that was killed leaves its file behind.
  const before = readServerState(place).join('\n');
  const options = serverSettings.map((setting) => `-c ${setting}`).join(' ');
  const child = spawn('/bin/sh', ['-c', serverScript, 'postgres', bin, place, String(port), options], {
    ...user,
    env,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // A test that forgets to close it can end: that closes it.
  child.unref();
  (child.stdin as Socket).unref();
  const end = performance.now() + startMs;
  while (readServerState(place)[7]?.trim() !== 'ready' || readServerState(place).join('\n') === before) {
    if (child.exitCode !== null || performance.now() > end)
      assert.fail(fs.readFileSync(path.join(place, 'log'), 'utf8'));
    await delay(10);
  }
  return child;
}

async function waitForExit(child: ChildProcess): Promise<void> {
  child.ref();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** The first line of the server's own file is its process id, the last one how far it is. */
function readServerState(place: string): readonly string[] {
  try {
    return fs.readFileSync(path.join(place, 'data/postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function readServerPid(place: string): number {
  const [pid] = readServerState(place);
  assert.ok(pid, 'PostgreSQL does not run.');
  return Number(pid);
}

/** A copy of an empty cluster that is made once for each version and user. */
function createDataDir({ bin, env, user, version }: PostgresBinaries, place: string): void {
  const template = path.join(postgresCacheDir, `${version}-${user.uid ?? process.getuid?.()}`);
  if (fs.existsSync(template)) return copyDir(template, place);
  const password = path.join(place, 'password');
  fs.writeFileSync(password, randomBytes(12).toString('hex'), { mode: 0o600 });
  if (user.uid !== undefined) for (const file of [place, password]) fs.chownSync(file, user.uid, user.uid);
  const words = ['-U', 'fairlead', '-A', 'scram-sha-256', `--pwfile=${password}`, '-E', 'UTF8', '--locale=C'];
  execFileSync(path.join(bin, 'initdb'), ['-D', path.join(place, 'data'), ...words], { ...user, env, cwd: '/' });
  fs.mkdirSync(postgresCacheDir, { recursive: true });
  const fresh = fs.mkdtempSync(`${template}-`);
  copyDir(place, fresh);
  try {
    fs.renameSync(fresh, template);
  } catch (error) {
    // Another test file was first.
    if (!fs.existsSync(template)) throw error;
    fs.rmSync(fresh, { recursive: true });
  }
}

function copyDir(from: string, to: string): void {
  execFileSync('cp', ['-Rp', `${from}/.`, to]);
}

async function findFreePort(): Promise<number> {
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
