// A fleet process that executes commands from standard input, one per line. Arguments: store location, lease in ms.
// `open`, `append` and `close` use the session `one`; `take` claims one run and holds it until `finish`; `drain` handles all runs.
import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { zeroUsage, type FleetRun, type Log, type RunSettlement } from '../../src/core/index.ts';
import { openFleetStore } from '../../src/stores/open-fleet-store.ts';

const [where = '', leaseMs = '10000'] = process.argv.slice(2);
const printLine = (line: string): void => void fs.writeSync(1, `${line}\n`);
printLine('awake');
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
const store = await openFleetStore(where, { leaseMs: Number(leaseMs), retryMs: 20 });
printLine('ready');

const finished = Promise.withResolvers<void>();
let log: Log | undefined;
let seq = 0;

const createEndedSettlement = (text: string): RunSettlement => ({
  type: 'completed',
  outcome: { reason: 'answered', text, spent: zeroUsage },
});

async function readTail(given: Log): Promise<readonly [number, readonly string[]]> {
  let last = 0;
  const keys: string[] = [];
  for await (const events of given.read())
    for (const event of events) {
      last = event.seq;
      if (event.type === 'annotation-added') keys.push(event.key);
    }
  return [last, keys];
}

/** Handles a run with one effect: the intent is recorded before it and the receipt after it; an existing receipt skips the effect. */
async function runWithEffect(run: FleetRun): Promise<RunSettlement> {
  const held = await store.sessions.open(run.session, { force: true, holder: run.worker ?? '' });
  const [last, keys] = await readTail(held);
  if (keys.includes('done')) return createEndedSettlement('found done');
  await held.append(last, [{ type: 'annotation-added', key: 'begun', value: process.pid }], { durable: true });
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  await held.append(last + 1, [{ type: 'annotation-added', key: 'done', value: process.pid }], { durable: true });
  await held.close();
  return createEndedSettlement('done');
}

async function holdRun(run: FleetRun, signal: AbortSignal): Promise<RunSettlement> {
  signal.addEventListener('abort', () => printLine(`lost ${run.id}`));
  printLine(`took ${run.id} ${run.attempts}`);
  await finished.promise;
  return createEndedSettlement(`by ${process.pid}`);
}

async function executeCommand(command: string): Promise<string> {
  const work = { worker: `p${process.pid}`, signal: new AbortController().signal, drain: true };
  if (command === 'take') {
    await store.queue.work({ ...work, concurrency: 1, handle: holdRun });
    return 'worked';
  }
  if (command === 'drain') {
    await store.queue.work({ ...work, concurrency: 4, handle: runWithEffect });
    return 'drained';
  }
  if (command === 'finish') {
    finished.resolve();
    return 'finished';
  }
  if (command === 'standing') return `stopped ${(await store.killSwitch.status()).stopped}`;
  if (command === 'open') {
    log = await store.sessions.open('one', { holder: `p${process.pid}` });
    [seq] = await readTail(log);
    return 'opened';
  }
  if (command === 'close') {
    await log?.close();
    return 'closed';
  }
  const [event] =
    (await log?.append(seq, [{ type: 'annotation-added', key: 'from', value: 1 }], { durable: true })) ?? [];
  seq = event?.seq ?? seq;
  return `saved ${seq}`;
}

for (;;) {
  const { value, done } = await lines.next();
  if (done === true) break;
  void executeCommand(value).then(printLine, (error: { code?: string }) => printLine(error.code ?? String(error)));
}
await store.close();
