// What an agent file can change for a sub-agent: it narrows tools and limits, never widens them, and starts only if it is trusted.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  defaultSubagentCaps,
  fold,
  runStateView,
  zeroUsage,
  type FairleadError,
  type JsonObject,
  type Limits,
  type RunState,
  type SubagentCaps,
  type Tool,
  type ToolContext,
} from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { calls, says, scriptedProvider } from '../../testing/index.ts';
import { defineTool, resolveAgent, Session } from '../index.ts';
import type { StartableAgent } from './apply-agent-file.ts';
import { createReviewRecord } from './independence.ts';
import { createSubagentManager } from './lifecycle.ts';
import { subagentTools } from './manage-tools.ts';
import type { SubagentInfo } from './metadata.ts';

const file = (changes: Partial<StartableAgent>): StartableAgent => ({
  name: 'worker',
  description: 'Works.',
  instructions: 'Work.',
  hash: 'x',
  status: 'trusted',
  ...changes,
});

type Started = {
  /** The tools that the sub-agent was offered; undefined if it did not start. */
  readonly tools: readonly string[] | undefined;
  readonly limits: Partial<Limits> | undefined;
  readonly turns: number;
  readonly result: string;
};

/** Runs a parent that starts the agent `worker` once, with this input. */
async function start(
  agent: StartableAgent,
  {
    input = {},
    limits = {},
    caps = {},
    others = [],
    price = { input: 0, output: 0 },
  }: {
    readonly input?: JsonObject;
    readonly limits?: Partial<Limits>;
    readonly caps?: Partial<SubagentCaps>;
    readonly others?: readonly SubagentInfo[];
    readonly price?: { readonly input: number; readonly output: number };
  } = {},
): Promise<Started> {
  const childLog = memoryLog();
  const log = memoryLog();
  const manager = createSubagentManager({
    agents: [agent],
    caps: { ...defaultSubagentCaps, ...caps },
    store: { open: async () => ({ log: childLog }), list: async () => others },
  });
  let tools: readonly string[] | undefined;
  let turns = 0;
  const provider = scriptedProvider(
    (request) => {
      if (!request.body.system.includes('another agent has started'))
        return request.results.length > 0
          ? says('done')
          : calls('spawn_agent', { task: 'x', agent: 'worker', ...input });
      tools = [...request.tools];
      turns += 1;
      return turns < 9 && tools.includes('look') ? calls('look', { at: turns }) : says('worked');
    },
    { price },
  );
  const tool = (name: string): Tool =>
    defineTool({ name, description: name, input: { type: 'object' }, effect: 'read', run: () => `${turns}` });
  const own = ['look', 'write', 'send'].map(tool);
  // Without the names in its schema, the tool takes any: the manager must refuse by itself.
  const spawning = subagentTools(async () => manager).map((each): Tool => ({ ...each, validate: () => undefined }));
  const session = await Session.open(
    resolveAgent({ provider, system: 'parent', tools: [...own, ...spawning] }),
    log,
    'parent',
  );
  await session.advance('go', { limits });
  const started = childLog.events.find((event) => event.type === 'run-started');
  const results = log.events.flatMap((event) => (event.type === 'tool-ended' ? [event.text] : []));
  return {
    tools,
    limits: started?.type === 'run-started' ? started.limits : undefined,
    turns,
    result: results.join(),
  };
}

test('[A69] an agent gets the tools that its parent, its file and the call name, without those that the file forbids', async () => {
  assert.deepEqual((await start(file({}))).tools, ['look', 'write', 'send']);
  assert.deepEqual((await start(file({ disallowedTools: ['write', 'se*'] }))).tools, ['look']);
  assert.deepEqual((await start(file({ tools: ['look', 'other'] }), { input: { tools: ['look', 'write'] } })).tools, [
    'look',
  ]);
  assert.deepEqual((await start(file({ tools: ['look', 'write'] }), { input: { tools: ['write'] } })).tools, ['write']);
  assert.deepEqual((await start(file({ tools: ['*'] }))).tools, ['look', 'write', 'send']);
  assert.deepEqual((await start(file({ tools: [] }))).tools, []);
});

test('[A69] the smaller of the limits of the file, of the call and of what the parent has left counts', async () => {
  const turnsOf = async (limits: StartableAgent['limits'], asked?: number, parent?: number): Promise<unknown> => {
    const input = asked === undefined ? {} : { max_turns: asked };
    const started = await start(file(limits ? { limits } : {}), {
      input,
      limits: parent === undefined ? {} : { turns: parent },
    });
    return started.limits?.turns;
  };
  assert.deepEqual(
    [
      await turnsOf({ turns: 3 }),
      await turnsOf({ turns: 3 }, 9),
      await turnsOf({ turns: 9 }, 3),
      await turnsOf({ usd: 1 }, undefined, 90),
    ],
    [3, 3, 3, 25],
  );
  assert.equal(await turnsOf({ turns: 90 }, 80, 6), 4, 'one turn was used, and one is kept for the report');
  const { limits } = await start(file({ limits: { usd: 0.5, tokens: 700, calls: 2 } }), { limits: { usd: 0.4 } });
  assert.deepEqual([limits?.usd, limits?.tokens, limits?.calls], [0.4, 700, 2]);
});

test('[A69] a file that is not trusted, was changed, refused or disabled starts nothing, although the call names it', async () => {
  for (const [changes, why] of [
    [{ status: 'new' }, /has not trusted/],
    [{ status: 'changed' }, /has not trusted/],
    [{ status: 'refused' }, /has not trusted/],
    [{ disabled: 'its file disables it' }, /cannot be started: its file disables it/],
    [{ isolation: 'worktree' }, /git worktree/],
    [{ name: 'other' }, /There is no agent "worker"/],
  ] as const) {
    const { tools, result } = await start(file(changes));
    assert.equal(tools, undefined, JSON.stringify(changes));
    assert.match(result, why);
  }
});

test('[A69] an agent that runs is stopped when all agents of the session cost more than their cap', async () => {
  const state: RunState = fold(runStateView(), []);
  const done = (usd: number): SubagentInfo => ({
    id: `agent-${usd}`,
    metadata: { task: 't', parent: 'parent', key: 'k' },
    state: { ...state, total: { ...zeroUsage, usd } },
    running: false,
  });
  const price = { input: 0, output: 1000 };
  const alone = await start(file({}), { price });
  assert.equal(alone.turns, 9);
  const stopped = await start(file({}), { price, caps: { usd: 1 }, others: [done(0.999)] });
  assert.ok(stopped.turns > 0 && stopped.turns < 9, `${stopped.turns} turns`);
  assert.match(stopped.result, /not done/);
});

test('[A69] a message starts no new run of an agent whose file was changed, removed or revoked since it started', async () => {
  const subagent: SubagentInfo = {
    id: 'agent-1',
    metadata: { task: 't', parent: 'parent', key: 'k', agent: 'worker', file_hash: 'x' },
    state: fold(runStateView(), []),
    running: false,
  };
  const send = async (agents: readonly StartableAgent[], message: string | undefined): Promise<unknown> => {
    const store = { open: () => Promise.reject(new Error('opened')), list: async () => [] };
    const context = { state: subagent.state, key: 'new' } as unknown as ToolContext;
    return createSubagentManager({ agents, store })
      .resume(subagent, message, context)
      .catch((error: unknown) => (error as FairleadError).code ?? (error as Error).message);
  };
  for (const agents of [[], [file({ hash: 'y' })], [file({ status: 'new' })], [file({ status: 'refused' })]])
    assert.equal(await send(agents, 'More.'), 'agent/not-trusted');
  assert.equal(await send([file({})], 'More.'), 'opened');
  assert.equal(await send([], undefined), 'opened', 'an interrupted run goes on');
});

test('[A103] another session of one agent does not review it if the family of a model is not known', () => {
  const author = { agent: 'writer', family: '', session: 'a' };
  for (const family of ['', 'gpt'])
    assert.throws(() => createReviewRecord(author, { agent: 'writer', family, session: 'b' }), {
      code: 'agent/not-independent',
    });
  assert.match(createReviewRecord(author, { agent: 'critic', family: 'gpt', session: 'b' }).note, /is not known/);
  const other = createReviewRecord({ ...author, family: 'qwen' }, { agent: 'writer', family: 'gpt', session: 'b' });
  assert.match(other.note, /another model family \(gpt, the author has qwen\)/);
});
