// A trial of what confines commands: one of them tries to see, to write and to reach what it must not, and we look whether it could.
import { randomUUID } from 'node:crypto';
import { accessSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { shellQuote } from '../../workspace/shell-quote.ts';

/** What the command said, and what it could do that it must not; nothing where it said nothing that can be judged. */
export type SandboxProbe = { readonly output: string; readonly leaks: readonly string[] | undefined };

/** What is said where nothing leaked. */
export const noLeaksMessage =
  'had no network, saw and changed nothing outside its folder and could not write system files.';

/** Tries a way to run commands whose folder is this one. */
export async function probeSandbox(run: (command: string) => Promise<string>, folder: string): Promise<SandboxProbe> {
  const inHome = !isPathInside(folder, homedir()) && isWritable(homedir());
  const witness = path.join(inHome ? homedir() : tmpdir(), `.fairlead-doctor-${randomUUID()}`);
  const door = await startProbeServer();
  try {
    writeFileSync(witness, 'seen', { flag: 'wx', mode: 0o600 });
    const said = await run(probeScript(witness, door.port));
    const seen = findLeaks(said, inHome ? 'the home folder' : 'a file outside its folder');
    const done = [
      ...(readFileSync(witness, 'utf8') === 'seen' ? [] : ['a file outside its folder can be written']),
      ...(door.wasReached() ? ['a server of this machine can be reached'] : []),
    ];
    return { output: said, leaks: seen && [...seen, ...done] };
  } finally {
    rmSync(witness, { force: true });
    door.close();
  }
}

/** A home folder may be read-only, as in a container: then the trial is made with a file elsewhere. */
function isWritable(at: string): boolean {
  try {
    accessSync(at, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

type ProbeServer = { readonly port: number; wasReached(): boolean; close(): void };

/** A server of this machine, which nothing that is confined may reach. */
async function startProbeServer(): Promise<ProbeServer> {
  let reached = false;
  const server = createServer((socket) => {
    reached = true;
    // A proper answer: what gets none asks again and again.
    socket.on('error', () => {}).end('HTTP/1.0 204 No Content\r\n\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { port, wasReached: () => reached, close: () => void server.close() };
}

/** Says in three lines what a command can see; what it can write and reach is seen from outside. Which shell and which programs there are inside is not known. */
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

/** What a command could see that it must not, by what the proof said. */
function findLeaks(text: string, what: string): readonly string[] | undefined {
  const seen = (name: string): string | undefined => new RegExp(`^${name}: *(.*?) *$`, 'm').exec(text)?.[1];
  const [network, home, system] = [seen('network'), seen('home'), seen('system')];
  if (home === undefined) return undefined;
  return [
    ...(network === ''
      ? []
      : [network === undefined ? 'it cannot be told whether there is a network' : `there is a network (${network})`]),
    ...(home === 'hidden' ? [] : [`${what} can be seen`]),
    ...(system === 'closed' ? [] : ['its system files can be written']),
  ];
}
