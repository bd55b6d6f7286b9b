// Replays of sessions of every kind: random ones, crashed ones, compacted ones, with denials, approvals and sub-agents.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { resolveAgent, Session, tool } from '../src/agent/index.ts';
import { toolOutput, type Event, type Gate, type Provider, type ResolvedAgent, type Tool } from '../src/core/index.ts';
import { formatReplay, formatReplayMarkdown, replaySession } from '../src/sessions/index.ts';
import { memoryLog } from '../src/stores/index.ts';
import { calls, scriptedProvider } from '../src/testing/index.ts';
import { arbitraryModelTurn, createScenario, createScenarioStartFacts, runScenario } from './support/scenario.ts';

const readJson = (events: readonly Event[]): readonly Event[] => JSON.parse(JSON.stringify(events)) as Event[];

test('[A51] any session replays without a difference: answers, calls, denials, approvals, rejected answers, notes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryModelTurn, { maxLength: 8 }), async (script) => {
      const { agent, effects } = createScenario(script);
      const log = memoryLog();
      await runScenario(agent, log);
      const events = readJson(log.events);
      const before = effects.length;
      const alone = await replaySession(events);
      assert.deepEqual(alone.differences, []);
      const now = await replaySession(events, { agent });
      assert.deepEqual(
        now.differences.filter(({ where }) => !where.startsWith('request: tool')),
        [],
        'the rules and reminders of the agent give the same notes again',
      );
      assert.equal(effects.length, before, 'a replay executes nothing');
    }),
    { numRuns: 150 },
  );
});

test('[A51] a session that a crash cut anywhere, and that was resumed, replays without a difference', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryModelTurn, { minLength: 1, maxLength: 4 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (script, share) => {
        const log = memoryLog();
        await runScenario(createScenario(script).agent, log);
        const cut = 4 + Math.floor((log.events.length - 4) * share);
        const resumed = memoryLog(log.events.slice(0, cut));
        const rest = createScenario(script.slice(1));
        await runScenario({ ...rest.agent, onUnknownOutcome: 'ask' }, resumed);
        assert.deepEqual((await replaySession(readJson(resumed.events.slice(0, cut)))).differences, []);
        assert.deepEqual((await replaySession(readJson(resumed.events))).differences, []);
      },
    ),
    { numRuns: 100 },
  );
});

test('[A51] a rejected answer whose rejection a power cut tore off is rejected when the session is resumed', async () => {
  const empty = { text: '', calls: [], finish: 'stop' } as const;
  const log = memoryLog();
  await runScenario(createScenario([empty, empty]).agent, log);
  for (let cut = 4; cut <= log.events.length; cut++) {
    const resumed = memoryLog(log.events.slice(0, cut));
    const rest = createScenario([empty]);
    await runScenario({ ...rest.agent, onUnknownOutcome: 'ask' }, resumed);
    assert.deepEqual((await replaySession(readJson(resumed.events))).differences, [], `cut after ${cut} events`);
    const answers = resumed.events.filter((event) => event.type === 'turn-ended' && event.message.parts.length === 0);
    const rejected = resumed.events.filter((event) => event.type === 'answer-rejected');
    assert.equal(rejected.length, answers.length, `cut after ${cut} events: each empty answer is rejected`);
  }
});

test('[A51] calls of a rejected answer never run after a power cut tore off the rejection', async () => {
  const save = { tool: 'save', input: { n: 1 } };
  const log = memoryLog();
  const { agent } = createScenario([{ text: '', calls: [save, save], finish: 'tool-calls' }]);
  const facts = createScenarioStartFacts(agent).map((fact) =>
    fact.type === 'run-started' ? { ...fact, choice: 'none' as const } : fact,
  );
  await log.append(0, facts);
  await runScenario(agent, log);
  const ended = log.events.findIndex((event) => event.type === 'turn-ended');
  const rejected = log.events.findIndex((event) => event.type === 'answer-rejected');
  assert.equal(rejected - ended, 3, 'the response, two denied calls, and the rejection are one append');
  for (let cut = ended + 1; cut <= rejected + 1; cut++) {
    const resumed = memoryLog(log.events.slice(0, cut));
    const rest = createScenario([]);
    await runScenario(rest.agent, resumed);
    assert.deepEqual(rest.effects, [], `cut after ${cut} events`);
    assert.equal(resumed.events.filter((event) => event.type === 'answer-rejected').length, 1);
    assert.equal(resumed.events.filter((event) => event.type === 'tool-ended').length, 2);
  }
});

const createLook = (description = 'Looks.', text = 'saw'): readonly Tool[] => [
  tool({
    name: 'look',
    description,
    inputSchema: { type: 'object' },
    effect: 'external',
    execute: (input) => `${text} ${JSON.stringify(input)}`,
  }),
];

const createAgent = (provider: Provider, more: Partial<ResolvedAgent> = {}): ResolvedAgent => ({
  ...resolveAgent({ provider, system: 'Be short.', tools: createLook() }),
  ...more,
});

const twoRuns = (): Provider =>
  scriptedProvider([calls('look', { at: 'a' }), 'one', calls('look', { at: 'b' }), 'two']);

async function recordTwoRuns(more: Partial<ResolvedAgent> = {}): Promise<readonly Event[]> {
  const log = memoryLog();
  const session = await Session.open(createAgent(twoRuns(), more), log, 's1');
  await session.run('first');
  await session.run('second');
  await session.close();
  return readJson(log.events);
}

test('[A51] a changed instruction, tool and rule of the agent of now are differences of the turns that they change', async () => {
  const events = await recordTwoRuns();
  const same = createAgent(twoRuns());
  assert.equal((await replaySession(events, { agent: same })).identical, true);
  const prompt = await replaySession(events, { agent: { ...same, system: 'Be long.' } });
  assert.deepEqual(prompt.differences, [
    { turn: 1, where: 'request: instructions', recorded: 'Be short.', replayed: 'Be long.' },
  ]);
  const tools = resolveAgent({ provider: twoRuns(), system: '', tools: createLook('Looks twice.') }).tools;
  const [schema] = (await replaySession(events, { agent: { ...same, tools } })).differences;
  assert.deepEqual([schema?.turn, schema?.where], [1, 'request: tool look']);
  assert.match(`${schema?.recorded} ${schema?.replayed}`, /Looks\.[^]*Looks twice\./);
  const rule: ResolvedAgent['rules'][number] = (event) =>
    event.type === 'tool-ended' ? [{ key: 'look', text: 'Look again.' }] : [];
  const notes = await replaySession(events, { agent: { ...same, rules: [rule] } });
  assert.deepEqual(
    notes.differences.map(({ turn, where }) => [turn, where]),
    [
      [2, 'request: message 4'],
      [4, 'request: message 8'],
    ],
  );
  assert.match(notes.differences[0]?.replayed ?? '', /Look again\./);
  assert.equal(notes.identical, false);
});

test('[A51] an event that was changed in a recording is found: the state does not lead there', async () => {
  const events = await recordTwoRuns();
  const unread = events.map((event) => (event.type === 'turn-started' ? { ...event, inputs: [] } : event));
  const [input] = (await replaySession(unread)).differences;
  assert.deepEqual([input?.turn, input?.where, input?.replayed], [1, 'request: message 1', 'user: first']);
  const end = events.findIndex((event) => event.type === 'run-ended');
  const otherEnd = events.with(end, { ...events[end], reason: 'max-turns' } as Event);
  const [found] = (await replaySession(otherEnd)).differences;
  assert.deepEqual([found?.where, found?.recorded, found?.replayed], ['end of the run', 'max-turns', 'answered']);
});

test('[A51] sessions with compactions, a rewind, a cancelled run and a result of a sub-agent replay without a difference', async () => {
  const log = memoryLog();
  const compactor: ResolvedAgent['compactor'] = {
    threshold: 0.5,
    run: async (state) => ({
      messages: [{ role: 'user', parts: [{ type: 'text', text: `short ${state.turn}` }] }],
      detail: 'shortened',
      spent: { turns: 1, input: 5, output: 1 },
    }),
  };
  const long = 'word '.repeat(400);
  const delegate = tool({
    name: 'delegate',
    description: 'Starts a sub-agent.',
    inputSchema: { type: 'object' },
    execute: () => toolOutput({ text: 'The sub-agent is done.', spent: { turns: 2, input: 9, output: 3, usd: 0.1 } }),
  });
  const provider = scriptedProvider([long, calls('delegate', { at: 'a' }), long, 'last', 'more', 'again', 'end']);
  const { tools } = resolveAgent({ provider, system: '', tools: [delegate] });
  const agent = createAgent(provider, { compactor, tools, limits: { context: 700 } });
  const session = await Session.open(agent, log, 's1');
  await session.run('one');
  const rewound = log.events.at(-1)?.id ?? '';
  await session.run('two');
  await session.compact().catch(() => undefined);
  await session.run('three');
  await session.rewind(rewound);
  await session.run('four');
  const stop = new AbortController();
  await session.run('five', { signal: stop.signal, onChunk: () => stop.abort() });
  await session.close();
  const events = readJson(log.events);
  assert.ok(events.some((event) => event.type === 'epoch-started' && event.reason === 'compacted'));
  assert.ok(events.some((event) => event.type === 'run-ended' && event.reason === 'cancelled'));
  assert.ok(events.some((event) => event.type === 'tool-ended' && event.spent !== undefined));
  assert.deepEqual((await replaySession(events)).differences, []);
  const beforeRewind = events.findIndex((event) => event.type === 'branch-started');
  assert.deepEqual((await replaySession(events.slice(0, beforeRewind))).differences, []);
});

test('[A51] ends of a run that a rule, a budget or a price decided are taken from the recording', async () => {
  const stop: ResolvedAgent['stops'][number] = ({ calls: open }) =>
    open.length > 0 ? { reason: 'rule', detail: 'No calls today.' } : undefined;
  const endings: readonly Partial<ResolvedAgent>[] = [
    { stops: [stop] },
    { limits: { usd: 0.000_001 }, provider: { ...twoRuns(), price: { input: 1, output: 1 } } },
    { limits: { usd: 100 } },
    { limits: { ms: 3_600_000 } },
    { limits: { tokens: 1 } },
    { limits: { turns: 1 } },
    { limits: { calls: 0 } },
  ];
  const reasons: string[] = [];
  for (const more of endings) {
    const events = await recordTwoRuns(more);
    const end = events.find((event) => event.type === 'run-ended');
    reasons.push(end?.type === 'run-ended' ? end.reason : '');
    assert.deepEqual((await replaySession(events)).differences, [], reasons.at(-1));
  }
  assert.deepEqual(reasons, [
    'rule',
    'money-budget',
    'answered',
    'answered',
    'token-budget',
    'max-turns',
    'call-budget',
  ]);
});

test('[A51] a call that a crash left open, and that was asked about, replays without a difference', async () => {
  const log = memoryLog();
  const session = await Session.open(createAgent(twoRuns()), log, 's1');
  await session.run('first');
  await session.close();
  const started = log.events.findIndex((event) => event.type === 'tool-started');
  for (const decision of [true, false]) {
    const cut = memoryLog(log.events.slice(0, started + 1));
    const agent = createAgent(scriptedProvider(['one']), { onUnknownOutcome: 'ask' });
    const resumed = await Session.open(agent, cut);
    await resumed.run(undefined, { onApproval: () => decision });
    await resumed.close();
    const asked = cut.events.find((event) => event.type === 'approval-requested');
    assert.equal(asked?.type === 'approval-requested' && asked.kind, 'unknown-outcome');
    assert.deepEqual((await replaySession(readJson(cut.events))).differences, []);
  }
});

test('[A51] what the session itself changed is no difference: its last instructions are compared with those of now', async () => {
  const log = memoryLog();
  const first = createAgent(twoRuns(), { system: 'Be kind.' });
  const session = await Session.open(first, log, 's1');
  await session.run('first');
  await session.setAgent({ ...first, system: 'Be short.' });
  await session.run('second');
  await session.close();
  const events = readJson(log.events);
  assert.deepEqual((await replaySession(events, { agent: createAgent(twoRuns()) })).differences, []);
  const { differences } = await replaySession(events, { agent: first });
  assert.deepEqual(differences, [
    { turn: 3, where: 'request: instructions', recorded: 'Be short.', replayed: 'Be kind.' },
  ]);
});

test('[A51] from a turn on: recorded results in their order, the prompts of the user, and no call of a live tool', async () => {
  const events = await recordTwoRuns();
  const live = await replaySession(events, {
    from: 2,
    live: { provider: scriptedProvider(['one', calls('look', { at: 'b' }), 'two']) },
  });
  assert.deepEqual([live.differences, live.live?.turns, live.identical], [[], 3, true]);
  const other = await replaySession(events, {
    from: 2,
    live: { provider: scriptedProvider(['uno', calls('look', { at: 'a' }), 'two']) },
  });
  assert.deepEqual(
    other.differences.map(({ turn, where }) => [turn, where]),
    [
      [2, 'answer'],
      [3, 'answer'],
      [3, 'result of look'],
    ],
  );
  assert.equal(other.differences[2]?.replayed, 'saw {"at":"a"}', 'an earlier turn recorded this call');
  const stopped = await replaySession(events, {
    from: 3,
    live: { provider: scriptedProvider([calls('look', { at: 'c' }), 'two']) },
  });
  assert.match(stopped.stopped ?? '', /called look with \{"at":"c"\}/);
  assert.equal(stopped.identical, false);
  await assert.rejects(replaySession(events, { from: 9, live: { provider: twoRuns() } }), { code: 'session/no-turn' });
  await assert.rejects(replaySession(events, { from: 1 }), { code: 'replay/no-model' });
});

test('[A51] live tools pass the gates of now; a recorded approval or denial counts only for the recorded result', async () => {
  const asks: Gate = ({ input }) => ({ type: 'ask', question: `Look at ${JSON.stringify(input)}?` });
  const log = memoryLog();
  const session = await Session.open(createAgent(twoRuns(), { gates: [asks] }), log, 's1');
  const onApproval = ({ input }: { readonly input: unknown }): boolean => JSON.stringify(input).includes('a');
  await session.run('first', { onApproval });
  await session.run('second', { onApproval: ({ question }) => question.includes('"a"') });
  await session.close();
  const events = readJson(log.events);
  assert.deepEqual((await replaySession(events)).differences, []);
  let executed = 0;
  const tools = new Map(
    [...createAgent(twoRuns()).tools].map(([name, each]) => [name, { ...each, execute: () => `ran ${++executed}` }]),
  );
  const run = (script: Provider, approve?: boolean): ReturnType<typeof replaySession> =>
    replaySession(events, {
      from: 3,
      live: {
        provider: script,
        agent: createAgent(script, { gates: [asks], tools }),
        runsTools: true,
        ...(approve === undefined ? {} : { onApproval: () => approve }),
      },
    });
  const recorded = await run(scriptedProvider([calls('look', { at: 'b' }), 'two']));
  assert.deepEqual([recorded.differences, executed], [[], 0], 'the recorded denial is used');
  const waiting = await run(scriptedProvider([calls('look', { at: 'c' }), 'two']));
  assert.match(waiting.stopped ?? '', /waits for approval[^]*Look at \{"at":"c"\}\?/);
  assert.equal(executed, 0);
  await run(scriptedProvider([calls('look', { at: 'c' }), 'two']), false);
  assert.equal(executed, 0);
  await run(scriptedProvider([calls('look', { at: 'c' }), 'two']), true);
  assert.equal(executed, 1);
});

test('[A51] differences fit the width of the terminal, and text of a model can neither hide nor close a block', async () => {
  const events = await recordTwoRuns();
  const hostile = `\u001B[2J${'漢字 🙂 '.repeat(40)}\u202E\n\`\`\`\`\nend`;
  const replay = await replaySession(events, { from: 2, live: { provider: scriptedProvider([hostile, 'x']) } });
  for (const width of [40, 80, 133]) {
    const text = formatReplay(replay, width);
    const columns = Math.floor((width - 5) / 2);
    assert.ok(!text.includes('\u001B') && !text.includes('\u202E'));
    for (const line of text.split('\n').filter((each) => each.includes(' │ ')))
      assert.ok(line.indexOf(' │ ') <= columns + 2, line);
  }
  assert.match(formatReplayMarkdown(replay), /`````text\n␛\[2J/);
  const huge = await replaySession(events, {
    from: 2,
    live: { provider: scriptedProvider(['a'.repeat(100_000) + '`'.repeat(100_000), 'x']) },
  });
  assert.ok(formatReplay(huge, 80).length < 20_000);
});
