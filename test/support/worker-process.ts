// A worker process whose runs have external effects. Arguments: store location, URL of the effect recorder, lease in ms.
// Output lines: `leaving` after a stop signal, `refused` with session and error code for each refused write, `over` with the run after it was handled.
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { resolveAgent } from '../../src/agent/index.ts';
import type { FleetRun, FleetStore, Tool, ToolContext } from '../../src/core/index.ts';
import { createAgentRunHandler, startWorker, type RunHandler } from '../../src/fleet/index.ts';
import { openFleetStore } from '../../src/stores/open-fleet-store.ts';
import { calls, joinResponses, says, scriptedProvider } from '../../src/testing/index.ts';

const [where = '', outside = '', leaseMs = ''] = process.argv.slice(2);
const printLine = (line: string): void => void fs.writeSync(1, `${line}\n`);

type EffectQuery = Readonly<Record<string, string>>;

/** Sends a request in one packet: a killed process has sent all of it or nothing. */
async function queryRecorder(path: 'act' | 'find' | 'think', asked: EffectQuery, signal: AbortSignal): Promise<string> {
  const query = new URLSearchParams({ ...asked, by: String(process.pid) });
  return (await fetch(`${outside}/${path}?${query}`, { signal })).text();
}

/** Tools for the three cases after a crash: the outcome can be checked, the call can be repeated, or neither. */
function createEffectTools(run: FleetRun): readonly Tool[] {
  const act = async (tool: string, { key, signal }: ToolContext, more: EffectQuery = {}): Promise<string> => {
    await pause(Math.random() * 5, undefined, { signal });
    return queryRecorder('act', { run: run.id, tool, key, ...more }, signal);
  };
  const plain = { input: { type: 'object' }, effect: 'external' } as const;
  return [
    {
      ...plain,
      name: 'pay',
      description: 'Pays. Can be asked whether it has.',
      execute: (_, context) => act('pay', context),
      checkOutcome: async (_, { key, signal }) =>
        (await queryRecorder('find', { run: run.id, tool: 'find', key }, signal)) === 'happened' && 'done before',
    },
    {
      ...plain,
      name: 'book',
      description: 'Books. The outside refuses the same key again.',
      idempotent: true,
      execute: (_, context) => act('book', context, { once: 'yes' }),
    },
    { ...plain, name: 'mail', description: 'Mails.', execute: (_, context) => act('mail', context) },
  ];
}

const driveRun = createAgentRunHandler(async (run, signal) => ({
  parts: resolveAgent({
    system: 'You do what is to be done, once.',
    tools: createEffectTools(run),
    provider: scriptedProvider(async ({ results }) => {
      await queryRecorder('think', { run: run.id, tool: `think-${results.length}` }, signal);
      if (results.length === 0) return joinResponses([calls('pay'), calls('book')]);
      return results.length === 2 ? calls('mail') : says(`${results.length} things done`);
    }),
  }),
  close: async () => {},
}));

const driver: RunHandler = (run, context) => driveRun(run, context).finally(() => printLine(`over ${run.id}`));

/** The store, with a line of output for each refused write. */
function reportRefusedWrites(store: FleetStore): FleetStore {
  const { sessions } = store;
  const open: typeof sessions.open = async (session, options) => {
    const log = await sessions.open(session, options);
    const append: typeof log.append = (...given) =>
      log.append(...given).catch((error: { code?: string }) => {
        printLine(`refused ${session} ${error.code}`);
        throw error;
      });
    return { ...log, append };
  };
  return { ...store, sessions: { ...sessions, open } };
}

/** Tests kill the worker of one run more often than the default allows. */
const maxWorkerLosses = 1000;
const store = await openFleetStore(where, { leaseMs: Number(leaseMs), retryMs: 50, maxWorkerLosses });
const worker = startWorker({ store: reportRefusedWrites(store), handlers: { run: driver }, notify: printLine });
process.on('SIGTERM', () => {
  worker.stop();
  printLine('leaving');
});
printLine('ready');
await worker.done;
await store.close();
