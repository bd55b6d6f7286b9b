// A scripted agent whose external effects are counted in a ledger file: one line per effect, never removed.
import fs from 'node:fs';
import {
  toArray,
  type ResolvedAgent,
  type ToolCallPart,
  type Chunk,
  type Fact,
  type Json,
  type Limits,
  type Message,
  type ModelRequest,
  type Tool,
} from '../../src/core/index.ts';
import { bareAgentParts } from '../support/bare-agent.ts';

const limits: Limits = { turns: 1e6, errors: 1e6, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 10_000 };

/** The facts that begin a session with one prompt. */
export const scriptedStartFacts: readonly Fact[] = [
  { type: 'session-started', session: 's1' },
  { type: 'epoch-started', epoch: 1, reason: 'started', system: 'be good', tools: [], model: 'script' },
  { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
  { type: 'run-started', run: 'r1', limits },
];

/** The tool calls of the model, answer by answer; each effect has its own number. */
export const plan: readonly (readonly string[])[] = [
  ['look', 'look'],
  ['write'],
  ['send'],
  ['look', 'write', 'send'],
  ['put'],
  ['send', 'send'],
  ['look', 'put', 'write'],
  ['write', 'look', 'look'],
  ['send', 'put'],
  ['write', 'send'],
];

/** How many tool calls the plan makes. */
export const plannedCallCount: number = plan.flat().length;

const plannedCalls: readonly (readonly ToolCallPart[])[] = plan.map((tools, turn) =>
  tools.map((tool, i) => {
    const n = plan.slice(0, turn).flat().length + i;
    return { type: 'tool-call', id: `x${i}`, tool, input: { n } };
  }),
);

/** An agent that selects its next step by the number of its own answers, and writes its effects to a ledger. */
export function createScriptedAgent(ledger: string, seen: (request: ModelRequest) => void = () => {}): ResolvedAgent {
  const tools = [
    createPlanTool('look', 'read', (n) => `seen ${n}`),
    createPlanTool('write', 'write', (n) => recordEffect(ledger, 'write', n)),
    createPlanTool('send', 'external', (n) => recordEffect(ledger, 'send', n)),
    { ...createPlanTool('put', 'external', (n) => recordEffect(ledger, 'put', n)), idempotent: true },
  ];
  return {
    system: 'be good',
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    ...bareAgentParts,
    provider: {
      family: 'script',
      model: 'script',
      async *stream(request): AsyncIterable<Chunk> {
        seen(request);
        const answers = toArray(request.messages).filter(({ role }) => role === 'assistant').length;
        const calls = plannedCalls[answers];
        const message: Message = { role: 'assistant', parts: calls ?? [{ type: 'text', text: 'all done' }] };
        const finish = calls ? 'tool-calls' : 'stop';
        yield { type: 'end', message, finishReason: finish, usage: { input: 1, output: 1 }, model: 'script', usd: 0 };
      },
    },
  };
}

const createPlanTool = (name: string, effect: Tool['effect'], act: (n: number) => string): Tool => ({
  name,
  description: name,
  input: { type: 'object' },
  effect,
  execute: (input) => act((input as { readonly n: number }).n),
});

function recordEffect(ledger: string, tool: string, n: number): string {
  // A killed process loses nothing that it wrote, so no sync is needed.
  fs.appendFileSync(ledger, `${tool} ${n}\n`);
  return `done ${n}`;
}

/** The effects in a ledger, in order. */
export const readEffects = (ledger: string): readonly string[] =>
  fs.existsSync(ledger) ? fs.readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];

/** The effect number in the input of a call. */
export const getCallNumber = (input: Json): number => (input as { readonly n: number }).n;
