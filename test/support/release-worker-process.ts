// A worker process whose agents are those of releases. Arguments: store location, folder of releases, file with the trusted key.
// The agent of a release answers from the text of its AGENTS.md: `fails <share>` makes that share of the runs fail.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { resolveAgent } from '../../src/agent/index.ts';
import { FairleadError, zeroUsage, type Tool } from '../../src/core/index.ts';
import { startWorker, type AgentFactory } from '../../src/fleet/index.ts';
import {
  createReleaseRunHandler,
  hashJson,
  openReleaseStore,
  parsePublicKeys,
  withCanaryMonitor,
} from '../../src/coding-agent/releases/index.ts';
import { openFleetStore } from '../../src/stores/open-fleet-store.ts';
import { calls, fails, says, scriptedProvider } from '../../src/testing/index.ts';

const [where = '', folder = '', keyFile = ''] = process.argv.slice(2);
const releases = openReleaseStore(folder);
const store = await openFleetStore(where, { maxWorkerLosses: 1000, leaseMs: 1000 });

const lookUp: Tool = {
  name: 'look_up',
  description: 'Looks something up.',
  input: { type: 'object' },
  effect: 'read',
  execute: async () => {
    await pause(5);
    return 'found';
  },
};

/** The agent of a release: looks something up, then answers with the name of the release or fails. */
const createAgent =
  (release: { readonly folder: string; readonly manifest: { readonly name: string } }): AgentFactory =>
  async (run) => {
    const text = fs.readFileSync(path.join(release.folder, 'AGENTS.md'), 'utf8');
    const share = Number(/fails ([\d.]+)/.exec(text)?.[1] ?? 0);
    const isBad = Number.parseInt(hashJson(`outcome ${run.id}`).slice(0, 8), 16) / 2 ** 32 < share;
    return {
      parts: resolveAgent({
        system: text,
        tools: [lookUp],
        provider: scriptedProvider(({ results }) => {
          if (results.length === 0) return calls('look_up');
          return isBad ? fails('forbidden') : says(release.manifest.name);
        }),
      }),
      close: async () => {},
    };
  };

const handler = createReleaseRunHandler({
  releases,
  trustedKeys: parsePublicKeys(fs.readFileSync(keyFile, 'utf8')),
  createAgent,
  withoutRelease: async () => ({ type: 'completed', outcome: { reason: 'abstained', text: '', spent: zeroUsage } }),
});

const worker = startWorker({
  store,
  concurrency: 4,
  handlers: {
    run: withCanaryMonitor(handler, {
      releases,
      intervalMs: 50,
      onDecided: ({ decision, canary, reason }) => {
        fs.writeSync(1, `${decision} after ${canary.total} runs: ${reason}\n`);
      },
      onError: (error) => {
        fs.writeSync(2, `${error instanceof FairleadError ? error.message : String(error)}\n`);
      },
    }),
  },
});
process.on('SIGTERM', () => worker.stop());
fs.writeSync(1, 'ready\n');
await worker.done;
await store.close();
