// The simulated model: its answers follow from the run and the history alone; requests can fail, be cut off, or hit a rate limit.
import {
  FairleadError,
  isObject,
  toArray,
  type Chunk,
  type FleetRun,
  type Json,
  type Message,
  type ModelRequest,
  type Provider,
} from '../src/core/index.ts';
import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import { checkKillSwitch, type World } from './world.ts';

/** US dollars per million tokens. */
const price = { input: 1000, output: 1000 };
/** Less than what is reserved for a request, and not by much. */
const usage = { input: 80, output: 40 };

/** What one request costs. */
export const requestUsd: number = ((usage.input + usage.output) * price.input) / 1e6;

/** How often requests fail, and how often they hit a rate limit, as probabilities. */
export type ProviderFaults = { readonly failures: number; readonly rateLimits: number };

/** Creates the model of a run in a process. */
export function createSimulatedProvider(
  run: FleetRun,
  process: SimulatedProcess,
  world: World,
  random: Random,
  { failures, rateLimits }: ProviderFaults,
): Provider {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    signal.throwIfAborted();
    checkKillSwitch(world, 'a request', process.name, process.port.monotonicMs());
    const message = await process.call({
      name: `model ${run.id}`,
      target: 'model',
      latency: [5, 60],
      act: () => {
        if (random.chance(rateLimits)) throw rateLimitError(60_000 + random.between(1000, 30_000));
        if (random.chance(failures)) throw overloadedError();
        const at = process.port.monotonicMs();
        world.modelCalls.push({ run: run.id, tenant: run.tenant, usd: requestUsd, at, worker: process.name });
        return createAnswer(run, request);
      },
    });
    signal.throwIfAborted();
    yield { type: 'part-started', index: 0, part: 'text' };
    yield { type: 'part-delta', index: 0, text: 'so' };
    yield { type: 'part-ended', index: 0 };
    const finishReason = message.parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
    yield { type: 'end', message, finishReason, usage, model: 'simulated', usd: requestUsd };
  }
  return { family: 'simulated', model: 'simulated', price, stream };
}

const rateLimitError = (afterMs: number): FairleadError =>
  new FairleadError('provider/rate-limited', 'Too many requests.', { blame: 'provider', retry: true, afterMs });
const overloadedError = (): FairleadError =>
  new FairleadError('provider/overloaded', 'The model is overloaded.', { blame: 'provider', retry: true });

/** The calls of each turn of a run: from its settings, or by its place in a plan. */
export function listTurns({ id, settings }: Pick<FleetRun, 'id' | 'settings'>): readonly (readonly string[])[] {
  if (id.includes('/step-')) return [['pay']];
  if (id.includes('/')) return [];
  const { turns } = settings;
  return Array.isArray(turns) ? (turns as readonly (readonly string[])[]) : [];
}

/** The answer of the model: the next calls of the run, or a text once all of them have results. */
function createAnswer(run: FleetRun, request: ModelRequest): Message {
  const messages = toArray(request.messages);
  const done = messages.filter(
    ({ role, parts }) => role === 'assistant' && parts.some((part) => isCallOf(part, run.id)),
  );
  const turn = done.length;
  const calls = listTurns(run)[turn] ?? [];
  if (calls.length === 0) return { role: 'assistant', parts: [{ type: 'text', text: createText(run) }] };
  return {
    role: 'assistant',
    parts: calls.map((tool, i) => {
      const mark = formatMark(run.id, turn, i);
      return { type: 'tool-call' as const, id: mark, tool, input: { mark } };
    }),
  };
}

const isCallOf = (part: Message['parts'][number], run: string): boolean =>
  part.type === 'tool-call' && readMark(part.input).startsWith(`${run}:`);

/** The mark of a call, by which the world knows it: the loop gives calls ids of its own. */
export const formatMark = (run: string, turn: number, index: number): string => `${run}:${turn}.${index}`;

/** The mark in the input of a call; empty if there is none. */
export const readMark = (input: Json): string => (isObject(input) ? String(input['mark']) : '');

function createText({ id, settings }: FleetRun): string {
  const { steps } = settings;
  if (/\/plan-\d$/.test(id) && Array.isArray(steps)) return JSON.stringify({ steps: steps.filter(isObject) });
  return `done ${id}`;
}
