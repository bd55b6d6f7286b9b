// Health check of the container image: requests the health of the server at its port; other commands are healthy while they run.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** The command line of the first process of the container, in the format of the kernel; an `init` process includes the arguments too. */
const [, , file = '/proc/1/cmdline'] = process.argv;
const commandLine = readFileSync(file, 'utf8').split('\0');
const programIndex = commandLine.findIndex((word) =>
  /^(fairlead|harness|start-harness|start-harness-jayjader|harness-serve)$/.test(path.basename(word)),
);
const isServer =
  path.basename(commandLine[programIndex] ?? '') === 'harness-serve' || commandLine[programIndex + 1] === 'serve';
if (isServer) await checkHealth();

async function checkHealth(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: commandLine.slice(programIndex + 1),
    options: { host: text, port: text },
    strict: false,
  });
  const { host, port = '8080' } = values;
  // A server on all interfaces is reachable on loopback.
  const here = typeof host !== 'string' || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${here.includes(':') ? `[${here}]` : here}:${String(port)}/healthz`;
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(4000) });
    if (ok) return;
    console.error(`${url} responded with status ${status}.`);
  } catch (error) {
    console.error(`${url} does not respond: ${error instanceof Error ? error.message : String(error)}`);
  }
  process.exitCode = 1;
}
