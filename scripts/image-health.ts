// The health check of the image: asks the server that the container runs at its own port; what is no server is well while it runs.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** A file with a command line, as the kernel keeps that of the container's first process: an `init` before ours has our words too. */
const [, , file = '/proc/1/cmdline'] = process.argv;
const commandLine = readFileSync(file, 'utf8').split('\0');
const programIndex = commandLine.findIndex((word) =>
  /^(fairlead|start-harness|harness-serve)$/.test(path.basename(word)),
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
  // A server that listens everywhere listens here.
  const here = typeof host !== 'string' || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${here.includes(':') ? `[${here}]` : here}:${String(port)}/healthz`;
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(4000) });
    if (ok) return;
    console.error(`${url} says ${status}.`);
  } catch (error) {
    console.error(`${url} does not answer: ${error instanceof Error ? error.message : String(error)}`);
  }
  process.exitCode = 1;
}
