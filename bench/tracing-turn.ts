// What the export of traces adds to a turn of the coding agent with two tool calls. npm run bench -- --only tracing
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import type { Tracer } from '../src/tracing/index.ts';
import { measureTurnPairs, openTurnSession, type TurnCost, type TurnPair } from './turn-pairs.ts';

/** The spans of one request by default. */
const maxBatch = 512;
/** A turn has 11 spans and 16 events: a session has fewer than a batch and than the buffer of events, so that all spans are built and sent in the flush, which is measured. */
const turnsPerSession = 45;
/** The delay of the export for the same reason: on a loaded machine a session takes longer than the default of 5 seconds. */
const delayMs = 600_000;
/** Sessions that compile the code: a program that exports traces usually runs for long. An export is one call for 45 turns: after 16 of them the compiler, which runs beside the program, still took a third of its processor time. */
const warmUpRounds = 40;
/** Sessions whose cost is printed besides, for programs that end soon: 180 turns. */
const firstRounds = 4;

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
    const result = await measureTurnPairs(() => openPair(endpoint), {
      rounds,
      warmUpRounds,
      turnsPerSession,
      firstRounds,
    });
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
  const began = performance.now();
  return { without, withOption, finish: () => measureFlush(tracer, delivered, began) };
}

/** The interval of the metrics: `OTEL_METRIC_EXPORT_INTERVAL` by default. */
const metricsIntervalMs = 60_000;

/** Sends the spans of a session. A flush sends the metrics too, which are sent once a minute otherwise: a second flush, which sends them alone, says what they cost, and the share of the session in a minute of it counts. */
async function measureFlush(tracer: Tracer, deliveredBefore: number, began: number): Promise<TurnCost> {
  const share = Math.min(1, (performance.now() - began) / metricsIntervalMs);
  // The counts are not read before: that would build the spans outside of the measurement.
  const all = await measureWork(() => tracer.flush());
  const { added, delivered } = tracer.counts;
  const sent = delivered - deliveredBefore;
  if (delivered !== added || sent < turnsPerSession || sent >= maxBatch)
    throw new Error(`${sent} spans were delivered in one batch, ${added - delivered} were not.`);
  const metrics = await measureWork(() => tracer.flush());
  const combine = (key: keyof TurnCost): number => all[key] - metrics[key] * (1 - share);
  return { ms: combine('ms'), cpuMs: combine('cpuMs') };
}

/** The processor time of some work, and the time in which the thread works: while it waits for the receiver, a turn continues. */
async function measureWork(work: () => Promise<unknown>): Promise<TurnCost> {
  const [utilization, cpu] = [performance.eventLoopUtilization(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.eventLoopUtilization(utilization).active, cpuMs: (user + system) / 1000 };
}
