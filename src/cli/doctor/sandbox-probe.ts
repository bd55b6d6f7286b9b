// Tests a sandbox: a command in it tries to read, write and connect to what the sandbox must prevent.
import { randomUUID } from 'node:crypto';
import { accessSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { shellQuote } from '../../workspace/index.ts';

/** The output of the command, and what it could do although it must not; undefined if the output cannot be judged. */
export type SandboxProbe = { readonly output: string; readonly leaks: readonly string[] | undefined };

/** The message if nothing leaked. */
export const noLeaksMessage =
  'had no network, could not read or change anything outside its directory, and could not write system files.';

/** Tests a function that runs commands in this directory. */
export async function probeSandbox(run: (command: string) => Promise<string>, dir: string): Promise<SandboxProbe> {
  const inHome = !isPathInside(dir, homedir()) && isWritable(homedir());
  const witness = path.join(inHome ? homedir() : tmpdir(), `.fairlead-doctor-${randomUUID()}`);
  const server = await startProbeServer();
  try {
    writeFileSync(witness, 'seen', { flag: 'wx', mode: 0o600 });
    const output = await run(probeScript(witness, server.port));
    const visible = findLeaks(output, inHome ? 'the home directory' : 'a file outside its directory');
    const sideEffects = [
      ...(readFileSync(witness, 'utf8') === 'seen' ? [] : ['a file outside its directory can be written']),
      ...(server.wasReached() ? ['a server on this machine can be reached'] : []),
    ];
    return { output, leaks: visible && [...visible, ...sideEffects] };
  } finally {
    rmSync(witness, { force: true });
    server.close();
  }
}

/** A home directory may be read-only, as in a container: then the test file is created elsewhere. */
function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

type ProbeServer = { readonly port: number; wasReached(): boolean; close(): void };

/** Starts a server on this machine, which a confined command must not reach. */
async function startProbeServer(): Promise<ProbeServer> {
  let reached = false;
  const server = createServer((socket) => {
    reached = true;
    // A complete response, so that the client does not retry.
    socket.on('error', () => {}).end('HTTP/1.0 204 No Content\r\n\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { port, wasReached: () => reached, close: () => void server.close() };
}

/** The script prints in three lines what a command can see; writes and connections are observed from outside. It assumes no particular shell or programs. */
const probeScript = (witness: string, port: number): string =>
  [
    'if [ -r /proc/net/dev ]; then',
    `  echo "network: $(sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d ' ' | grep -vx lo | tr '\\n' ' ')"`,
    'fi',
    `[ -e ${shellQuote(witness)} ] && echo 'home: seen' || echo 'home: hidden'`,
    `if touch /${path.basename(witness)} 2>/dev/null; then rm -f /${path.basename(witness)}; echo 'system: writable'; else echo 'system: closed'; fi`,
    `(echo changed > ${shellQuote(witness)}) 2>/dev/null`,
    `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null`,
    `wget -q -T 2 -O /dev/null http://127.0.0.1:${port}/ >/dev/null 2>&1`,
    `curl -s -m 2 --noproxy '*' http://127.0.0.1:${port}/ >/dev/null 2>&1`,
    'true',
  ].join('\n');

/** Returns what a command could see although it must not, from the output of the script. */
function findLeaks(output: string, file: string): readonly string[] | undefined {
  const read = (name: string): string | undefined => new RegExp(`^${name}: *(.*?) *$`, 'm').exec(output)?.[1];
  const [network, home, system] = [read('network'), read('home'), read('system')];
  if (home === undefined) return undefined;
  return [
    ...(network === ''
      ? []
      : [network === undefined ? 'whether it has a network is unknown' : `it has a network (${network})`]),
    ...(home === 'hidden' ? [] : [`${file} is visible`]),
    ...(system === 'closed' ? [] : ['its system files can be written']),
  ];
}
