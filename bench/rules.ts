// What rules cost: turns with 50 rules against turns without, folded and run in memory, at the beginning of a session and after 1,000 turns. npm run bench -- --only rules
import {
  openSessionWriter,
  runLoop,
  runStateView,
  toArray,
  type ResolvedAgent,
  type Provider,
} from '../src/core/index.ts';
import {
  builtInReminders,
  errorThreshold,
  exclusive,
  rateLimit,
  readBeforeEdit,
  requireOrder,
  compileRuleSet,
  stuckLoop,
  type ReminderDefinition,
  type CompiledRuleSet,
} from '../src/rules/index.ts';
import { memoryLog } from '../src/stores/index.ts';

/** 50 rules: the thirteen we ship, reminders at every call, gates and stops. */
export function createFiftyRules(): CompiledRuleSet {
  const shipped = builtInReminders();
  const gates = [
    readBeforeEdit(),
    rateLimit({ tool: 'noop', most: 1e9, per: 'run' }),
    requireOrder(['a', 'b']),
    exclusive(['c', 'd']),
  ];
  const stops = [errorThreshold(50), stuckLoop(1000)];
  const left = 50 - shipped.length - gates.length - stops.length;
  const own = Array.from({ length: left }, (_, i): ReminderDefinition => ({
    name: `own-${i}`,
    on: i % 3 ? 'tool-ended' : 'turn-ended',
    ...(i % 2 ? { tool: i % 4 === 1 ? 'noop' : 'other' } : {}),
    when: ({ state }) => state.failures > 100 + i,
    message: 'Mind it.',
    cooldown: i % 5,
  }));
  return compileRuleSet({ name: 'fifty', reminders: [...shipped, ...own], gates, stops });
}

const noRules: CompiledRuleSet = { rules: [], views: [], gates: [], stops: [], checks: [], renderers: [] };

/** A model that calls a tool so many times, with a text of a usual size each time. */
const createModel = (turns: number): Provider => ({
  family: 'bench',
  model: 'bench',
  price: { input: 0, output: 0 },
  async *stream(request) {
    const said = toArray(request.messages).length >> 1;
    const call = { type: 'tool-call', id: 'w', tool: 'noop', input: { i: said } } as const;
    const text = {
      type: 'text',
      text: `Step ${said}: I look at src/part-${said % 50}.ts, and then I go on with what is left to do.`,
    } as const;
    yield {
      type: 'end',
      message: { role: 'assistant', parts: said < turns ? [text, call] : [text] },
      finishReason: said < turns ? 'tool-calls' : 'stop',
      usage: { input: 100, output: 20 },
      model: 'bench',
    };
  },
});

const createAgent = (rules: CompiledRuleSet, turns: number): ResolvedAgent => ({
  system: 'You are a test.',
  provider: createModel(turns),
  tools: new Map([
    ['noop', { name: 'noop', description: 'Nothing.', input: { type: 'object' }, effect: 'read', execute: () => 'ok' }],
  ]),
  reminders: [],
  settings: {},
  ...rules,
});

/** Milliseconds of each hundred turns. */
async function timePerHundredTurns(rules: CompiledRuleSet, turns: number): Promise<readonly number[]> {
  const agent = createAgent(rules, turns);
  const head = await openSessionWriter(memoryLog(), runStateView(agent.rules, agent.views));
  const limits = { turns: turns + 2, errors: 50, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 10_000 };
  await head.record([
    { type: 'session-started', session: 's', nonce: 'n' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: agent.system, tools: [], model: 'bench' },
    { type: 'input-received', input: 'i', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    { type: 'run-started', run: 'r', limits },
  ]);
  const marks: number[] = [performance.now()];
  head.subscribe((event) => {
    if (event.type === 'turn-started' && event.turn > 1 && event.turn % 100 === 1) marks.push(performance.now());
  });
  await runLoop(agent, {
    writer: head,
    signal: new AbortController().signal,
    onChunk: () => {},
    clock: () => performance.now(),
  });
  return marks.slice(1).map((mark, i) => mark - (marks[i] ?? 0));
}

const minAt = (lists: readonly (readonly number[])[], at: number): number =>
  Math.min(...lists.map((list) => list[at] ?? Number.NaN));

/** Prints what 50 rules cost a turn at the beginning and after 1,000 turns, and what a turn over the network costs beside it. */
export async function benchRules(rounds: number, turnMs: number): Promise<void> {
  const bare: (readonly number[])[] = [];
  const ruled: (readonly number[])[] = [];
  for (let round = 0; round < rounds + 1; round++) {
    bare.push(await timePerHundredTurns(noRules, 1000));
    ruled.push(await timePerHundredTurns(createFiftyRules(), 1000));
  }
  console.log('\n50 rules over none, microseconds a turn in memory (least of each)');
  for (const at of [1, 4, 9]) {
    const [without, withRules] = [minAt(bare.slice(1), at) * 10, minAt(ruled.slice(1), at) * 10];
    const cost = withRules - without;
    console.log(
      `  turns ${at * 100 + 1}-${at * 100 + 100}: ${without.toFixed(0)} without, ${withRules.toFixed(0)} with: ${cost.toFixed(0)} for the rules, ${(cost / 10 / turnMs).toFixed(1)} % of a turn of ${turnMs.toFixed(2)} ms`,
    );
  }
}
