// Starts PgBouncer in transaction mode before the PostgreSQL of a test file.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { runAsUser } from './postgres-binaries.ts';
import { findFreePort } from './postgres.ts';

/** A running PgBouncer. */
export type PgBouncer = {
  /** The URL of a database of the server through the pooler. */
  url(direct: string): string;
  close(): Promise<void>;
};

/** Why tests with PgBouncer are skipped; undefined if it is installed. */
export function findNoPgBouncer(): string | undefined {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'needs pgbouncer: install it';
  }
}

const startMs = 20_000;

/** Starts it for all databases of a server, whose URL names a user and a password. */
export async function startPgBouncer(server: string): Promise<PgBouncer> {
  const directory = mkdtempSync(path.join(tmpdir(), 'fairlead-pgbouncer-'));
  chmodSync(directory, 0o755);
  const { username, password, port } = new URL(server);
  const ownPort = await findFreePort();
  const file = path.join(directory, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 12
server_idle_timeout = 5
`,
    { mode: 0o644 },
  );
  const child = spawn('pgbouncer', [file], { ...runAsUser, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += String(data)));
  const toUrl = (direct: string): string => {
    const url = new URL(direct);
    url.port = String(ownPort);
    return url.href;
  };
  for (const end = Date.now() + startMs; ; await delay(50)) {
    if (await canConnect(toUrl(server))) break;
    if (Date.now() > end || child.exitCode !== null) throw new Error(`PgBouncer did not start:\n${printed}`);
  }
  return {
    url: toUrl,
    async close() {
      child.kill('SIGINT');
      if (child.exitCode === null && !(await Promise.race([once(child, 'exit'), delay(2000, false)])))
        child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function canConnect(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
