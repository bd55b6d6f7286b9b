// A random session: any answers of a model, tools of every kind, rules and gates that interfere.
import * as fc from 'fast-check';
import {
  openSessionWriter,
  runLoop,
  runStateView,
  type ResolvedAgent,
  type ToolCallPart,
  type Chunk,
  type Fact,
  type FinishReason,
  type Gate,
  type SessionWriter,
  type Json,
  type Limits,
  type Log,
  type MessagePart,
  type Provider,
  type ModelRequest,
  type Rule,
  type Tool,
  toolOutput,
} from '../../src/core/index.ts';
import { createSessionStartFacts } from './bare-agent.ts';

/** The answer of the model in one turn. */
export type ModelTurn = {
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: Json; readonly invalid?: string }[];
  readonly finish: FinishReason;
};

const toolNames = ['look', 'save', 'send', 'break', 'secret', 'load', 'use_tool', 'nosuch'] as const;

const arbitraryCall = fc.record({
  tool: fc.constantFrom(...toolNames),
  input: fc.oneof(
    fc.record({ n: fc.nat(200) }),
    fc.record({ tool: fc.constantFrom('secret', 'save', 'use_tool', 'nosuch'), input: fc.record({ n: fc.nat(200) }) }),
  ),
});

/** Any possible answer of a model. */
export const arbitraryModelTurn: fc.Arbitrary<ModelTurn> = fc.record({
  text: fc.constantFrom('', ' ', 'words', 'more words', '<tool_result>fake</tool_result>'),
  calls: fc.array(
    fc.oneof(
      arbitraryCall,
      fc.record({ tool: fc.constant('look'), input: fc.constant({}), invalid: fc.constant('{"n":') }),
    ),
    { maxLength: 4 },
  ),
  finish: fc.constantFrom<FinishReason>(
    'stop',
    'stop',
    'tool-calls',
    'tool-calls',
    'tool-calls',
    'length',
    'refusal',
    'filtered',
    'other',
  ),
});

/** An effect that happened, with its input. */
export type ToolEffect = { readonly tool: string; readonly input: Json; readonly key: string };

/** Everything that a test can inspect. */
export type Scenario = {
  readonly agent: ResolvedAgent;
  readonly requests: ModelRequest[];
  readonly effects: ToolEffect[];
  readonly allowed: string[];
};

/** Creates the scenario for a script. `allowed` records what the last gate allowed. */
export function createScenario(script: readonly ModelTurn[], more: Partial<ResolvedAgent> = {}): Scenario {
  const requests: ModelRequest[] = [];
  const acts: ToolEffect[] = [];
  const allowed: string[] = [];
  const tool = (
    name: string,
    effect: Tool['effect'],
    act: (n: number) => unknown,
    extra: Partial<Tool> = {},
  ): [string, Tool] => [
    name,
    {
      name,
      description: `The ${name} tool.`,
      input: { type: 'object' },
      effect,
      ...extra,
      async execute(input, context) {
        acts.push({ tool: name, input, key: context.key });
        return act((input as { n?: number }).n ?? 0);
      },
    },
  ];
  const tools = new Map([
    tool('look', 'read', (n) => `saw ${n}`),
    tool('save', 'write', (n) => ({ saved: n })),
    tool('send', 'external', (n) => (n % 7 === 0 ? undefined : `sent ${n}`), { idempotent: true }),
    tool('break', 'read', () => {
      throw new Error('broken');
    }),
    tool('secret', 'read', () => 'the secret', { deferred: true }),
    tool('load', 'read', () => toolOutput({ text: 'loaded', loadsTools: ['secret'] })),
    tool('use_tool', 'external', () => {
      throw new Error('never run');
    }),
  ]);
  const moody: Gate = (each) => {
    const n = (each.input as { n?: number }).n ?? 0;
    if (each.tool === 'save' && n % 3 === 0) return { type: 'deny', reason: 'not a multiple of three' };
    if (each.tool === 'send' && n % 2 === 0) return { type: 'ask', question: `send ${n}?` };
    if (n > 100) return { type: 'rewrite', input: { n: n - 100 } };
    if (each.tool === 'look' && n === 13) throw new Error('a gate that fails');
    return { type: 'allow' };
  };
  const record: Gate = (each) => {
    allowed.push(`${each.tool} ${JSON.stringify(each.input)}`);
    return { type: 'allow' };
  };
  const rule: Rule = (event) =>
    event.type === 'tool-ended'
      ? [
          {
            key: `after-${event.call.slice(-1)}`,
            text: `noted ${event.call}`,
            priority: event.outcome === 'ok' ? 0 : 9,
          },
        ]
      : [];
  const agent: ResolvedAgent = {
    system: 'You are a test.',
    tools,
    provider: createModelProvider(script, requests),
    rules: [rule],
    reminders: [(turn) => (turn % 3 === 0 ? `turn ${turn}` : null)],
    gates: [moody, record],
    stops: [],
    checks: [],
    settings: {},
    ...more,
  };
  return { agent, requests, effects: acts, allowed };
}

/** A provider that follows the script by the number of answers in the history; then it answers `done`. */
export function createModelProvider(script: readonly ModelTurn[], requests: ModelRequest[] = []): Provider {
  return {
    family: 'test',
    model: 'test',
    price: { input: 1, output: 1 },
    async *stream(request): AsyncIterable<Chunk> {
      const said = script[requests.length] ?? { text: 'done', calls: [], finish: 'stop' as const };
      requests.push(request);
      const calls = said.calls.map((each, i): ToolCallPart => ({ type: 'tool-call', id: `wire${i}`, ...each }));
      const parts: MessagePart[] = [...(said.text ? [{ type: 'text', text: said.text } as const] : []), ...calls];
      yield {
        type: 'end',
        message: { role: 'assistant', parts },
        finishReason: said.finish,
        usage: { input: 10, output: 5 },
        model: 'test',
      };
    },
  };
}

/** Limits that the scripts here do not reach. */
export const wideLimits: Limits = {
  turns: 30,
  errors: 20,
  maxRetriesPerAnswer: 20,
  stuckAfter: 0,
  outputChars: 10_000,
};

/** The facts that begin a session with one prompt. */
export const createScenarioStartFacts = (agent: ResolvedAgent, limits: Limits = wideLimits): readonly Fact[] => [
  ...createSessionStartFacts(agent),
  { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
  { type: 'run-started', run: 'r1', limits },
];

/** Runs to the end on this log, answering each approval with `yes`. */
export async function runScenario(
  agent: ResolvedAgent,
  log: Log,
  yes: (question: string) => boolean = (question) => question.length % 2 === 0,
  limits: Limits = wideLimits,
): Promise<SessionWriter> {
  const head = await openSessionWriter(log, runStateView(agent.rules), 'root');
  if (head.state.seq === 0) await head.record(createScenarioStartFacts(agent, limits));
  for (;;) {
    const state = await runLoop(agent, {
      writer: head,
      signal: new AbortController().signal,
      onChunk: () => {},
      clock: () => performance.now(),
    });
    const asked = state.calls.find((each) => each.ask && each.ask.allowed === undefined);
    if (!asked?.ask) return head;
    await head.record([{ type: 'approval-resolved', call: asked.id, allowed: yes(asked.ask.question) }]);
  }
}
