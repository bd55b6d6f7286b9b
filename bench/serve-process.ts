// One measurement of a server in a process of its own: a server with its worker on a scripted model, weighed from inside; those who watch are another process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { resolveAgent } from '../src/agent/index.ts';
import { createAgentRunHandler, startWorker } from '../src/fleet/index.ts';
import { startApiServer, loadApiKeys } from '../src/server/index.ts';
import { openFleetStore } from '../src/stores/open-fleet-store.ts';
import { scriptedProvider } from '../src/testing/index.ts';

const key = 'the-key-of-a-measurement';
const unlimitedRate = { burst: 1e6, perSecond: 1e6 };
const [concurrency = '4'] = process.argv.slice(2);
const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-serve-'));
const store = await openFleetStore(path.join(folder, 'fleet.sqlite'));
const server = await startApiServer({
  store,
  keys: loadApiKeys({ env: { HARNESS_API_KEY: key }, folder }),
  version: '0',
  port: 0,
  folder,
  limits: { rate: unlimitedRate, anonymousRate: unlimitedRate, requests: 4096, streams: 4096 },
});
/** Whether answers may be given: until then every run is in the middle of its turn. */
const gate = Promise.withResolvers<void>();
const provider = scriptedProvider(async ({ prompt }) => {
  if (/wait/.test(prompt)) await gate.promise;
  return { chunks: Array.from({ length: 20 }, (_, i) => `word${i} `) };
});
const parts = resolveAgent({ provider, system: 'A measurement.', tools: [], gates: [] });
const worker = startWorker({
  store,
  handlers: { run: createAgentRunHandler(async () => ({ parts, limits: { turns: 10 }, close: async () => {} })) },
  concurrency: Number(concurrency),
});

/** The weight of this process once nothing is left to collect. */
async function readMemory(): Promise<{ readonly heap: number; readonly rss: number }> {
  for (let i = 0; i < 4; i++, await pause(50)) globalThis.gc?.();
  const { heapUsed, rss, external } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

// Whoever measures may fail, and then nobody says that it is over.
process.on('disconnect', () => void stopServer());
process.on('message', (asked: string) => {
  if (asked === 'weigh') void readMemory().then((weight) => process.send?.(weight));
  if (asked === 'go') gate.resolve();
  if (asked === 'end') void stopServer();
});

async function stopServer(): Promise<void> {
  worker.abort();
  await Promise.all([server.close(0), worker.done]);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}

process.send?.({ url: server.url, key });
