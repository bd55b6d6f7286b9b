// Test fixture: a session on a scripted server, through the gateway and the real loop, with the invariants that hold after every fault.
import assert from 'node:assert/strict';
import type test from 'node:test';
import {
  fold,
  historyError,
  openSessionWriter,
  renderRequest,
  runLoop,
  runStateView,
  toArray,
  type ResolvedAgent,
  type Chunk,
  type Event,
  type SessionWriter,
  type JsonObject,
  type Limits,
  type Provider,
  type ModelRequest,
  type RunState,
  type Tool,
} from '../../src/core/index.ts';
import { gateway, createGatewayState, openProvider, type GatewayOptions } from '../../src/providers/index.ts';
import { memoryLog, type MemoryLog } from '../../src/stores/index.ts';
import { says, scriptedServer, type Script, type ScriptedServer } from '../../src/testing/index.ts';
import { createTestClock, type TestClock } from './test-clock.ts';
import { bareAgentParts, createSessionStartFacts } from './bare-agent.ts';

/** The wire formats of a model request. */
export const testWireFormats = ['chat', 'responses', 'anthropic', 'google', 'ollama'] as const;

/** One of the wire formats. */
export type TestWireFormat = (typeof testWireFormats)[number];

/** Creates a provider for a wire format, without a gateway. */
export function openWireProvider(
  dialect: TestWireFormat,
  url: string,
  apiKey = 'k',
  contextWindow?: number,
): Promise<Provider> {
  switch (dialect) {
    case 'chat':
      return openProvider({ provider: 'openai-compatible', model: 'm', baseUrl: `${url}/v1`, apiKey });
    case 'responses':
      return openProvider({ provider: 'openai', model: 'gpt-5', baseUrl: `${url}/v1`, apiKey, api: 'responses' });
    case 'anthropic':
      return openProvider({ provider: 'anthropic', model: 'claude-sonnet-4-5', baseUrl: `${url}/v1`, apiKey });
    case 'google':
      return openProvider({ provider: 'google', model: 'gemini-2.5-flash', baseUrl: `${url}/v1beta`, apiKey });
    case 'ollama':
      return openProvider({
        provider: 'ollama',
        model: 'm',
        baseUrl: url,
        ...(contextWindow === undefined ? {} : { contextWindow }),
      });
  }
}

/** An external effect, with its idempotency key. */
export type RecordedEffect = { readonly n: unknown; readonly key: string };

/** A session with its fixture. */
export type GatewayFixture = {
  readonly server: ScriptedServer;
  readonly clock: TestClock;
  readonly log: MemoryLog;
  readonly head: SessionWriter;
  /** The effects of the external tool. */
  readonly effects: RecordedEffect[];
  readonly chunks: Chunk[];
  readonly agent: ResolvedAgent;
  /** Sends a prompt and runs to the end. */
  run(
    words: string,
    more?: { readonly agent?: Partial<ResolvedAgent>; readonly signal?: AbortSignal },
  ): Promise<RunState>;
  /** Asserts the invariants that hold after every fault. */
  assertInvariants(): Promise<void>;
};

/** The options of the fixture. */
export type GatewayFixtureOptions = {
  readonly format?: TestWireFormat;
  readonly gateway?: GatewayOptions;
  readonly agent?: Partial<ResolvedAgent>;
  readonly limits?: Partial<Limits>;
  readonly clock?: TestClock;
  /** Replaces the provider that connects to the server. */
  readonly provider?: Provider;
  /** Wraps the provider of the gateway. */
  readonly wrapProvider?: (provider: Provider) => Provider | readonly Provider[];
};

const wideLimits: Limits = { turns: 40, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 100_000 };
const numberSchema: JsonObject = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

function createEffectTools(ledger: RecordedEffect[]): ReadonlyMap<string, Tool> {
  const check: Tool['validate'] = (input) =>
    Number.isInteger((input as { n?: unknown }).n) ? undefined : 'n must be an integer.';
  const tools: readonly Tool[] = [
    {
      name: 'look',
      description: 'Looks.',
      input: numberSchema,
      effect: 'read',
      validate: check,
      execute: () => 'seen',
    },
    {
      name: 'send',
      description: 'Sends.',
      input: numberSchema,
      effect: 'external',
      validate: check,
      execute(input, { key }) {
        ledger.push({ n: (input as { n: unknown }).n, key });
        return 'sent';
      },
    },
  ];
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Creates the fixture for a script. */
export async function createGatewayFixture(
  t: test.TestContext,
  script: Script<JsonObject>,
  options: GatewayFixtureOptions = {},
): Promise<GatewayFixture> {
  const server = await scriptedServer(script, { models: [{ id: 'm', context: 100_000, tools: true }] });
  t.after(() => server.close());
  const clock = options.clock ?? createTestClock({ instant: true });
  const raw = options.provider ?? (await openWireProvider(options.format ?? 'chat', server.url));
  const provider = gateway(options.wrapProvider?.(raw) ?? raw, {
    clock,
    state: createGatewayState(),
    ...options.gateway,
  });
  const ledger: RecordedEffect[] = [];
  const shown: Chunk[] = [];
  const agent: ResolvedAgent = {
    system: 'You are a test.',
    provider,
    tools: createEffectTools(ledger),
    ...bareAgentParts,
    ...options.agent,
  };
  const log = memoryLog();
  const head = await openSessionWriter(log, runStateView(agent.rules));
  await head.record(createSessionStartFacts(agent));
  let inputs = 0;
  return {
    server,
    clock,
    log,
    head,
    effects: ledger,
    chunks: shown,
    agent,
    async run(words, more = {}) {
      const input = `i${++inputs}`;
      await head.record([
        { type: 'input-received', input, how: 'prompt', parts: [{ type: 'text', text: words }] },
        { type: 'run-started', run: `r${inputs}`, limits: { ...wideLimits, ...options.limits } },
      ]);
      const signal = more.signal ?? new AbortController().signal;
      const live = (chunk: Chunk): void => void shown.push(chunk);
      return runLoop({ ...agent, ...more.agent }, { writer: head, signal, onChunk: live, clock: () => clock.now() });
    },
    assertInvariants: () => assertGatewayInvariants({ log, head, effects: ledger, clock, agent }),
  };
}

/** Asserts that the log opens and is valid at every event, every effect happened at most once, and the next request is valid in every wire format. */
async function assertGatewayInvariants({
  log,
  head,
  effects,
  clock,
  agent,
}: Omit<GatewayFixture, 'server' | 'chunks' | 'run' | 'assertInvariants'>): Promise<void> {
  const events: readonly Event[] = JSON.parse(JSON.stringify(log.events)) as Event[];
  const view = runStateView(agent.rules);
  let state = view.initial;
  for (const event of events) {
    state = view.on(state, event);
    const { messages } = renderRequest(state, agent);
    if (messages.length > 0)
      assert.equal(historyError(toArray(messages)), undefined, `after event ${event.seq}, ${event.type}`);
  }
  const again = fold(view, events);
  assert.deepEqual(toArray(again.messages), toArray(head.state.messages), 'the log folds to the recorded state');
  const keys = effects.map((effect) => effect.key);
  assert.deepEqual(keys, [...new Set(keys)], 'each effect happened at most once');
  assert.equal(clock.pending, 0, 'no timer is left');
  await assertLegalEverywhere(renderRequest(addFinalPrompt(head.state), agent));
}

const addFinalPrompt = (state: RunState): RunState =>
  runStateView().on(
    runStateView().on(state, createNextEvent(state, 'input-received')),
    createNextEvent(state, 'turn-started'),
  );

function createNextEvent(state: RunState, type: 'input-received' | 'turn-started'): Event {
  const place = { seq: state.seq + 1, id: 'next', parent: state.head, time: '' };
  return type === 'input-received'
    ? { type, input: 'last', how: 'prompt', parts: [{ type: 'text', text: 'And now?' }], ...place }
    : { type, turn: state.turn + 1, inputs: state.pending.map(({ input }) => input), notes: [], ...place };
}

/** Sends a request in every wire format to a server that refuses what the real one would refuse. */
export async function assertLegalEverywhere(request: ModelRequest): Promise<void> {
  await using server = await scriptedServer(() => says('fine'), {
    models: [{ id: 'm', context: 10_000_000, tools: true }],
  });
  for (const dialect of testWireFormats) {
    const provider = await openWireProvider(dialect, server.url, 'k', 10_000_000);
    const types: string[] = [];
    try {
      for await (const chunk of provider.stream(request, new AbortController().signal)) types.push(chunk.type);
    } catch (error) {
      assert.fail(`the next request is not legal for ${dialect}: ${String(error)}`);
    }
    assert.equal(types.at(-1), 'end', dialect);
  }
}
