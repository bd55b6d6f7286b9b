// Sub-agents: no more permissions than their parent, charged to it, stopped with it, each with its own log.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  openSessionWriter,
  toolOutput,
  runStateView,
  type ResolvedAgent,
  type Event,
  type Gate,
  type Limits,
  type ModelRequest,
  type RunState,
  type Tool,
} from '../../core/index.ts';
import { memoryLog, type MemoryLog } from '../../stores/index.ts';
import { calls, says, scriptedProvider, type ScriptRequest, type ScriptStep } from '../../testing/index.ts';
import { resolveAgent, defineTool, Session } from '../index.ts';
import { parseSubagentMetadata } from './metadata.ts';
import { subagentTools } from './manage-tools.ts';
import type { SubagentManagerOptions } from './launch.ts';
import { createSubagentManager, type SubagentManager } from './lifecycle.ts';

type ScriptedReply = ScriptStep | Promise<ScriptStep>;
type Script = {
  readonly parent: (questions: ScriptRequest<ModelRequest>) => ScriptedReply;
  readonly child: (questions: ScriptRequest<ModelRequest>) => ScriptedReply;
};

type SubagentHarness = {
  readonly parts: ResolvedAgent;
  readonly logs: Map<string, MemoryLog>;
  readonly manager: SubagentManager;
  readonly log: MemoryLog;
  readonly run: (input: string, limits?: Partial<Limits>, signal?: AbortSignal) => Promise<RunState>;
  readonly results: () => readonly string[];
  /** The events in the log of the only sub-agent. */
  readonly child: () => readonly Event[];
};

const isChild = ({ body }: ScriptRequest<ModelRequest>): boolean => body.system.includes('another agent has started');

async function createHarness(
  { parent, child }: Script,
  tools: readonly Tool[] = [],
  more: Partial<Pick<ResolvedAgent, 'gates' | 'reminders'>> & {
    readonly answer?: SubagentManagerOptions['approvalHandler'];
    readonly logs?: Map<string, MemoryLog>;
  } = {},
  log: MemoryLog = memoryLog(),
): Promise<SubagentHarness> {
  const { answer, logs = new Map<string, MemoryLog>(), ...rest } = more;
  const manager = createSubagentManager({
    ...(answer ? { approvalHandler: answer } : {}),
    store: {
      async open(id) {
        const kept = logs.get(id) ?? memoryLog();
        logs.set(id, kept);
        return { log: kept };
      },
      async list(of) {
        const all = await Promise.all(
          [...logs].map(async ([id, each]) => {
            const about = each.events.map(parseSubagentMetadata).find((found) => found !== undefined);
            const { state } = await openSessionWriter(each, runStateView());
            return about?.parent === of ? [{ id, metadata: about, state, running: false }] : [];
          }),
        );
        return all.flat();
      },
    },
  });
  const provider = scriptedProvider((questions: ScriptRequest<ModelRequest>) =>
    isChild(questions) ? child(questions) : parent(questions),
  );
  const parts = {
    ...resolveAgent({ provider, system: 'parent', tools: [...tools, ...subagentTools(async () => manager)] }),
    ...rest,
  };
  const session = await Session.open(parts, log, 'parent-session');
  return {
    parts,
    logs,
    manager,
    log,
    run: (input, limits = {}, signal) => session.advance(input, { limits, ...(signal ? { signal } : {}) }),
    results: () => log.events.flatMap((event) => (event.type === 'tool-ended' ? [event.text] : [])),
    child: () => [...logs.values()][0]?.events ?? [],
  };
}

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';
const idIn = (text: string): string => /agent-[0-9a-f]{10}/.exec(text)?.[0] ?? '';
const spawn = (task: string, more: object = {}) => calls('spawn_agent', { task, ...more });
const manage = (action: string, more: object = {}) => calls('manage_agents', { action, ...more });

test('[P23] a sub-agent runs its task on its own log, which names its parent, and its usage is charged to the parent', async () => {
  const { run, results, child } = await createHarness({
    parent: ({ results }) => (results.length ? says('all done') : spawn('count', { role: 'You count.' })),
    child: ({ body, prompt }) => says(`${prompt}: ${body.system.split('\n').at(-1)}`),
  });
  const bounds = { maxRetriesPerAnswer: 1, stuckAfter: 2, outputChars: 5000, errors: 3 };
  const end = await run('go', bounds);
  assert.equal(end.ended?.reason, 'answered');
  const started = child().find((event) => event.type === 'run-started');
  assert.deepEqual(started?.type === 'run-started' && { ...started.limits, ...bounds }, started?.limits);
  assert.match(results()[0] ?? '', /^\[agent-[0-9a-f]{10}: done, 1 turns, 0 calls\]\ncount: You count\.$/);
  assert.equal(end.spent.turns, 3, 'two turns of the parent and one of the sub-agent');
  const about = child()
    .map(parseSubagentMetadata)
    .find((each) => each !== undefined);
  assert.deepEqual([about?.parent, about?.task], ['parent-session', 'count']);
});

test('[P23] a sub-agent has only the named tools, passes its parent’s gates, and cannot start sub-agents', async () => {
  const seen: string[] = [];
  const offered: string[][] = [];
  const gate: Gate = ({ tool }) => (
    seen.push(tool),
    tool === 'danger' ? { type: 'deny', reason: 'Never.' } : { type: 'allow' }
  );
  let ran = 0;
  const act = (name: string): Tool =>
    defineTool({ name, description: `${name}.`, input: { type: 'object' }, run: () => ++ran });
  const { run } = await createHarness(
    {
      parent: ({ results }) =>
        results.length ? says('done') : spawn('x', { tools: ['danger', 'manage_agents', 'no'] }),
      child: ({ results, tools }) => {
        offered.push([...tools]);
        return results.length ? says('could not') : calls('danger').and(calls('safe')).and(spawn('deeper'));
      },
    },
    [act('danger'), act('safe')],
    { gates: [gate] },
  );
  await run('go');
  assert.deepEqual(offered[0], ['danger']);
  assert.deepEqual([ran, seen], [0, ['spawn_agent', 'danger']]);
});

test('[P23] a sub-agent gets reminders about what its own session started, as its parent does', async () => {
  const notes: string[] = [];
  const { run } = await createHarness(
    {
      parent: ({ results }) => (results.length ? says('done') : spawn('x')),
      child: ({ body }) => (notes.push(JSON.stringify(body)), says('did')),
    },
    [],
    { reminders: [(_turn, _most, { session }) => (session === 'parent-session' ? '' : 'Your command has ended.')] },
  );
  await run('go');
  assert.match(notes.join(), /Your command has ended\./);
});

test('[P23] a sub-agent can load the deferred tools of its parent, and named ones are visible at once', async () => {
  const offered: string[][] = [];
  const rare = defineTool({
    name: 'rare',
    description: 'Rare.',
    input: { type: 'object' },
    hidden: true,
    run: () => 'came',
  });
  const { run, results } = await createHarness(
    {
      parent: ({ results: { length } }) =>
        length === 0 ? spawn('load') : length === 1 ? spawn('named', { tools: ['rare'] }) : says('done'),
      child: ({ prompt, tools, results }) => {
        offered.push([...tools]);
        if (prompt === 'named') return results.length ? says(last(results)) : calls('rare');
        if (results.length === 0) return calls('load_tools', { names: ['rare'] });
        return results.length === 1 ? calls('use_tool', { tool: 'rare', input: {} }) : says(last(results));
      },
    },
    [rare],
  );
  await run('go');
  assert.deepEqual(offered[0], ['load_tools', 'use_tool']);
  assert.deepEqual(offered.at(-1), ['rare']);
  assert.deepEqual(
    results().map((text) => text.split('\n')[1]),
    ['came', 'came'],
  );
});

const askingGate: Gate = ({ tool, input }) =>
  tool === 'act' ? { type: 'ask', question: `act ${JSON.stringify(input)}?` } : { type: 'allow' };

test('[P23] the user sees the exact question of a sub-agent, and an approval counts for that call, once', async () => {
  const questions: string[] = [];
  const done: unknown[] = [];
  const act = defineTool({
    name: 'act',
    description: 'Acts.',
    input: { type: 'object', properties: { n: { type: 'number' } } },
    run: (input) => void done.push(input),
  });
  const { run, child, results } = await createHarness(
    {
      parent: ({ results }) => (results.length ? says('done') : spawn('x')),
      child: ({ results }) => (results.length < 3 ? calls('act', { n: results.length % 2 }) : says('tried')),
    },
    [act],
    {
      gates: [askingGate],
      answer: () => async (call) => (questions.push(call.question), questions.length !== 2),
    },
  );
  const end = await run('go');
  assert.equal(end.ended?.reason, 'answered', results().join());
  assert.deepEqual(questions, ['act {"n":0}?', 'act {"n":1}?', 'act {"n":0}?']);
  assert.deepEqual(done, [{ n: 0 }, { n: 0 }]);
  const outputs = child().flatMap((event) =>
    event.type === 'approval-resolved'
      ? [`${event.allowed} by ${event.by}`]
      : event.type === 'tool-started'
        ? ['acts']
        : [],
  );
  assert.deepEqual(outputs, ['true by user', 'acts', 'false by user', 'true by user', 'acts']);
});

test('[P23] without an approval handler nothing runs and the parent reads what the sub-agent needs', async () => {
  let ran = 0;
  const act = defineTool({ name: 'act', description: 'Acts.', input: { type: 'object' }, run: () => ++ran });
  const { run, results } = await createHarness(
    { parent: ({ results }) => (results.length ? says('done') : spawn('x')), child: () => calls('act') },
    [act],
    { gates: [askingGate] },
  );
  await run('go');
  assert.match(results()[0] ?? '', /not done[^]*It needs the user’s approval: act \{\}\?/);
  assert.equal(ran, 0);
});

test('[P24] a pending question is asked again when the parent waits for the sub-agent, and nothing is charged twice', async () => {
  let willing = false;
  let ran = 0;
  const act = defineTool({ name: 'act', description: 'Acts.', input: { type: 'object' }, run: () => ++ran });
  const { run, results } = await createHarness(
    {
      parent: ({ results: { length } }) => {
        willing = length === 3;
        return length === 0 ? spawn('x') : length === 1 ? manage('list') : length < 4 ? manage('wait') : says('done');
      },
      child: ({ results }) => (results.length ? says('acted') : calls('act')),
    },
    [act],
    { gates: [askingGate], answer: () => async () => willing || undefined },
  );
  const end = await run('go');
  const [first, list, second, third] = results();
  assert.match(first ?? '', /It needs the user’s approval/);
  assert.match(list ?? '', /: waiting for the user’s approval, 1 turns/);
  assert.match(second ?? '', /It needs the user’s approval/);
  assert.match(third ?? '', /: done, 2 turns, 1 calls\]\nacted/);
  assert.deepEqual([ran, end.spent.turns], [1, 5 + 2]);
});

test('[P23, P24] sub-agents run in parallel in the background, are listed, inspected, messaged and stopped', async () => {
  const release = Promise.withResolvers<void>();
  const atWork = new Set<string>();
  const { run, results, manager } = await createHarness({
    parent: async ({ results: { length }, body }) => {
      const ids = [...JSON.stringify(body.messages).matchAll(/agent-[0-9a-f]{10}/g)].map(([id]) => id);
      const plan: readonly (() => ScriptedReply)[] = [
        () => spawn('one', { background: true }),
        () => spawn('two', { background: true }),
        () => manage('list'),
        () => manage('inspect', { agent: ids[0] }),
        () => manage('stop', { agent: ids[1] === ids[0] ? ids[2] : ids[1] }),
        () => (release.resolve(), manage('wait')),
        () => manage('message', { agent: ids[0], message: 'again' }),
        () => manage('wait', { agent: ids[0] }),
        () => says('done'),
      ];
      return plan[length]?.() ?? says('lost');
    },
    child: async ({ prompt }) => {
      atWork.add(prompt);
      await release.promise;
      return says(`report ${prompt}`);
    },
  });
  const end = await run('go');
  const [first, second, list, inspected, stopped, waited, messaged, again] = results();
  const [one, two] = [idIn(first ?? ''), idIn(second ?? '')];
  assert.notEqual(one, two);
  assert.deepEqual(
    list?.split('\n').map((line) => /^(\S+): running.*Task: (\w+)$/.exec(line)?.slice(1)),
    [
      [one, 'one'],
      [two, 'two'],
    ],
  );
  assert.match(inspected ?? '', /: running\nTask: one\nModel: /);
  assert.equal(stopped, `${two} is stopped.`);
  assert.equal(waited, `[${one}: done, 1 turns, 0 calls]\nreport one`);
  assert.match(messaged ?? '', /runs again/);
  assert.equal(again, `[${one}: done, 1 turns, 0 calls]\nreport again`);
  assert.equal(end.ended?.reason, 'answered');
  assert.deepEqual([...atWork].slice(0, 2), ['one', 'two'], 'both had started before either ended');
  assert.match((await manager.list('parent-session')).map(({ state }) => state.ended?.reason).join(), /cancelled/);
});

test('[P24] a sub-agent that is done can get another message, and a wait for all returns its second report too', async () => {
  const { run, results } = await createHarness({
    parent: ({ results: { length }, results }) =>
      [
        spawn('first'),
        manage('message', { agent: idIn(results[0] ?? ''), message: 'second' }),
        manage('wait'),
        manage('wait'),
      ][length] ?? says('done'),
    child: ({ prompt, body }) => says(`${prompt} of ${body.messages.length}`),
  });
  const end = await run('go');
  assert.deepEqual(
    results().map((text) =>
      text
        .split('\n')
        .at(-1)
        ?.replace(/^agent-\w+ /, ''),
    ),
    [
      'first of 1',
      'received the message and runs again. Wait for it with manage_agents.',
      'second of 3',
      'No agent is running.',
    ],
  );
  assert.equal(end.spent.turns, 5 + 2);
});

test('[P23] a fifth parallel sub-agent is refused, and so is one for which no turn is left', async () => {
  const { run, results, manager } = await createHarness({
    parent: ({ results: { length } }) => (length < 5 ? spawn(`t${length}`, { background: true }) : says('done')),
    child: () => new Promise(() => {}),
  });
  await run('go', { turns: 100 });
  assert.match(results()[4] ?? '', /4 agents are running already\./);
  await manager.close();
  const poor = await createHarness({
    parent: ({ results: { length } }) => (length ? says('done') : spawn('x')),
    child: () => says('never'),
  });
  await poor.run('go', { turns: 2 });
  assert.match(poor.results()[0] ?? '', /Too little of this run’s budget is left/);
});

test('[P23] of five sub-agents that get a message in one answer only four run', async () => {
  const { run, results, manager } = await createHarness({
    parent: ({ results: { length }, results }) => {
      if (length < 5) return spawn(`t${length}`);
      if (length > 5) return says('done');
      return results.map((text) => manage('message', { agent: idIn(text), message: 'more' }));
    },
    child: ({ prompt }) => (prompt === 'more' ? new Promise(() => {}) : says('did')),
  });
  await run('go', { turns: 200 });
  const outputs = results().slice(5);
  assert.equal(outputs.filter((text) => /runs again/.test(text)).length, 4, outputs.join('\n'));
  assert.match(outputs.join('\n'), /4 agents are running already\./);
  await manager.close();
});

test('[P23] a sub-agent that loops, fails or exceeds its budget ends, and its parent gets an error and continues (fault 39)', async () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    input: { type: 'object' },
    run: () => 1,
  });
  const tries: readonly [(questions: ScriptRequest<ModelRequest>) => ScriptedReply, RegExp, Partial<Limits>][] = [
    [() => calls('look'), /It stopped: stuck\./, {}],
    [({ results }) => calls('look', { n: results.length }), /It stopped: max-turns\./, { turns: 6 }],
    [() => ({ error: { name: 'unauthorized' } }), /It stopped: provider-error\./, {}],
  ];
  for (const [child, why, limits] of tries) {
    const { run, results } = await createHarness(
      { parent: ({ results: { length } }) => (length ? says('went on') : spawn('x')), child },
      [look],
    );
    const end = await run('go', limits);
    assert.match(results()[0] ?? '', why);
    assert.equal(end.ended?.reason, 'answered');
    assert.ok(end.spent.turns <= (end.limits?.turns ?? 0), 'the turns of both are within the parent’s limit');
  }
});

test('[P23] several sub-agents together cannot exceed the limits of their parent', async () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    input: { type: 'object' },
    run: () => 1,
  });
  const { run, logs } = await createHarness(
    {
      parent: ({ results: { length } }) =>
        length < 3 ? spawn('x', { background: true }) : length === 3 ? manage('wait') : says('done'),
      child: ({ results }) => calls('look', { n: results.length }),
    },
    [look],
  );
  const end = await run('go', { turns: 20 });
  const turns = [...logs.values()].map(({ events }) => events.filter((event) => event.type === 'turn-started').length);
  assert.equal(turns.length, 3);
  assert.ok(turns.every((each) => each >= 1));
  assert.ok(end.spent.turns <= 20, `${end.spent.turns} turns`);
});

test('[P23, P24] cancelling the parent stops its sub-agents, also those in the background', async () => {
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const { run, logs, manager } = await createHarness({
    parent: async ({ results: { length } }) => {
      if (length === 0) return spawn('x', { background: true });
      await begun.promise;
      stop.abort();
      return new Promise(() => {});
    },
    child: () => (begun.resolve(), new Promise<ScriptStep>(() => {})),
  });
  const end = await run('go', {}, stop.signal);
  assert.equal(end.ended?.reason, 'cancelled');
  const [id = ''] = logs.keys();
  await manager.running(id)?.done;
  assert.equal([...logs.values()][0]?.events.at(-1)?.type, 'run-ended');
  assert.equal(manager.running(id), undefined);
});

test('[P23] killed at any moment, the same call resumes the same sub-agent, and no effect happens twice (faults 30, 39)', async () => {
  let ran = 0;
  const act = defineTool({
    name: 'act',
    description: 'Acts.',
    input: { type: 'object' },
    run: () => toolOutput({ text: `did ${++ran}` }),
  });
  const script: Script = {
    parent: ({ results }) => (results.length ? says(`parent: ${last(results)}`) : spawn('x')),
    child: ({ results }) => (results.length ? says(`child: ${last(results)}`) : calls('act')),
  };
  const complete = await createHarness(script, [act]);
  await complete.run('go');
  const [id = '', kept] = [...complete.logs][0] ?? [];
  const length = kept?.events.length ?? 0;
  const started = complete.log.events.findIndex((event) => event.type === 'tool-started') + 1;
  for (let cut = 0; cut <= length; cut++) {
    ran = 0;
    const before = kept?.events.slice(0, cut) ?? [];
    const acted = before.some((event) => event.type === 'tool-started');
    const logs = new Map(cut ? [[id, memoryLog(before)]] : []);
    const log = memoryLog(complete.log.events.slice(0, started));
    const again = await createHarness(script, [act], { logs }, log);
    const session = await Session.open(again.parts, log);
    const end = await session.resume();
    assert.equal(end.ended?.reason, 'answered', `cut at ${cut}`);
    assert.equal(ran, acted ? 0 : 1, `cut at ${cut}: it ran ${ran} more times`);
    assert.equal(logs.size || again.logs.size, 1);
  }
});

test('[P24] killed at any moment, a message reaches a sub-agent once, whether it was running or done (faults 30, 39)', async () => {
  const script: Script = {
    parent: ({ results: { length }, results }) =>
      [spawn('first'), manage('message', { agent: idIn(results[0] ?? ''), message: 'second' }), manage('wait')][
        length
      ] ?? says(`parent: ${last(results)}`),
    child: ({ prompt }) => says(`did ${prompt}`),
  };
  const complete = await createHarness(script);
  await complete.run('go');
  const [id = '', kept] = [...complete.logs][0] ?? [];
  const events = kept?.events ?? [];
  const outputs = complete.log.events.findLastIndex(
    (event) => event.type === 'tool-started' && event.tool === 'manage_agents',
  );
  const message = complete.log.events.slice(0, outputs).findLastIndex((event) => event.type === 'tool-started');
  const done = events.findIndex((event) => event.type === 'run-ended') + 1;
  for (let cut = done; cut <= events.length; cut++) {
    const logs = new Map([[id, memoryLog(events.slice(0, cut))]]);
    const log = memoryLog(complete.log.events.slice(0, message + 1));
    const again = await createHarness(script, [], { logs }, log);
    const end = await (await Session.open(again.parts, log)).resume();
    assert.equal(end.ended?.reason, 'answered', `cut at ${cut}`);
    const inputs = again.child().filter((event) => event.type === 'input-received' && event.parts.length > 0);
    assert.equal(inputs.length, 2, `cut at ${cut}: it got the message ${inputs.length - 1} times`);
    assert.match(last(again.results()), /did second$/, `cut at ${cut}`);
  }
});

test('the tools for sub-agents have valid schemas and refuse invalid input, although their schemas are compiled late', () => {
  const [spawn, manage] = subagentTools(() => Promise.reject(new Error('Nobody starts anything.')));
  for (const tool of [spawn, manage]) assert.doesNotThrow(() => tool && defineTool({ ...tool, run: () => '' }));
  assert.match(spawn?.validate?.({}) ?? '', /task/);
  assert.match(spawn?.validate?.({ task: 'x', other: 1 }) ?? '', /other/);
  assert.equal(spawn?.validate?.({ task: 'x', max_turns: 3 }), undefined);
  assert.match(manage?.validate?.({ action: 'dance' }) ?? '', /action/);
  assert.equal(manage?.validate?.({ action: 'list' }), undefined);
});
