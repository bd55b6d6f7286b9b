// What the export of traces adds to a turn of the coding agent with two tool calls. npm run bench -- --only tracing
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import type { Tracer } from '../src/tracing/index.ts';
import { measureTurnPairs, openTurnSession, type TurnCost, type TurnPair } from './turn-pairs.ts';

/** A turn has 11 spans: a session has fewer than the 512 of a batch, so that none is sent before the flush, which is measured. */
const turnsPerSession = 45;
/** The delay of the export for the same reason: on a loaded machine a session takes longer than the default of 5 seconds. */
const delayMs = 600_000;
/** Sessions that compile the code: a program that exports traces usually runs for long. */
const warmUpRounds = 8;

/** A receiver in a process of its own, as in practice: it reads requests and accepts them. */
const receiverProgram = `
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** Prints what tracing adds to a turn: building the spans in the turn, and counting, encoding and sending them after it. */
export async function benchTracingTurn(rounds: number): Promise<void> {
  const receiver = spawn(process.execPath, ['-e', receiverProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = String(delayMs);
  try {
    const [line] = (await once(receiver.stdout, 'data')) as [Buffer];
    const endpoint = `http://127.0.0.1:${String(line).trim()}`;
    const result = await measureTurnPairs(() => openPair(endpoint), { rounds, warmUpRounds, turnsPerSession });
    console.log(`a turn with two tool calls, without tracing + what it adds, ${result}`);
  } finally {
    delete process.env['OTEL_BSP_SCHEDULE_DELAY'];
    receiver.kill();
  }
}

async function openPair(endpoint: string): Promise<TurnPair> {
  const notes = Array.from({ length: turnsPerSession }, (_, i) => `Notes ${i}.\n`.repeat(100));
  const without = await openTurnSession({}, notes);
  const withOption = await openTurnSession({ tracing: { endpoint } }, notes);
  const { trace } = await withOption.agent.resolve();
  if (!trace || !('flush' in trace)) throw new Error('The agent is not traced.');
  const tracer = trace as Tracer;
  const { delivered } = await tracer.flush();
  return { without, withOption, finish: () => measureFlush(tracer, delivered) };
}

/** Sends the spans and metrics of a session. Its time is that in which the thread works: while it waits for the receiver, a turn continues. */
async function measureFlush(tracer: Tracer, deliveredBefore: number): Promise<TurnCost> {
  const { added, delivered } = tracer.counts;
  if (delivered !== deliveredBefore || added - delivered < turnsPerSession)
    throw new Error('The spans of the session were sent before the flush, or there are none.');
  const [utilization, cpu] = [performance.eventLoopUtilization(), process.cpuUsage()];
  const counts = await tracer.flush();
  const { user, system } = process.cpuUsage(cpu);
  const ms = performance.eventLoopUtilization(utilization).active;
  if (counts.delivered !== added) throw new Error(`${counts.lost} spans were lost.`);
  return { ms, cpuMs: (user + system) / 1000 };
}
