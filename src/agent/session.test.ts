// Sessions: start, resume, steer, approve, fork and edit, each recorded in the log.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  toArray,
  type Provider,
  FairleadError,
  historyError,
  messageText,
  type ResolvedAgent,
  type Gate,
  type Message,
  type ModelRequest,
  type Tool,
} from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import { calls, says, scriptedProvider, type Script } from '../testing/index.ts';
import { agentTool, defineTool, resolveAgent, Session, createToolRegistry } from './index.ts';

function partsOf(
  script: Script<ModelRequest>,
  tools: readonly Tool[] = [],
  more: Partial<ResolvedAgent> = {},
): ResolvedAgent & { readonly requests: readonly ModelRequest[] } {
  const provider = scriptedProvider(script);
  return {
    system: 's',
    provider,
    tools: createToolRegistry(tools),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: {},
    ...more,
    requests: provider.requests,
  };
}

const tool = (name: string, run: () => unknown, effect: Tool['effect'] = 'read'): Tool =>
  defineTool({ name, description: `${name}.`, effect, input: { type: 'object' }, run });
const texts = (messages: readonly Message[]): readonly string[] =>
  messages.map((message) => (message.role === 'tool' ? 'results' : messageText(message)));

test('[A10] a session continues its conversation, also after its log is opened again', async () => {
  const log = memoryLog();
  const first = await Session.open(partsOf([says('one')]), log);
  await first.advance('a');
  const second = await Session.open(partsOf([says('two')]), memoryLog(log.events));
  await second.advance('b');
  assert.deepEqual(texts(second.messages), ['a', 'one', 'b', 'two']);
  assert.equal(second.state.epoch, 1, 'the same agent starts no new epoch');
});

test('steering is delivered after the running tool, a follow-up after the answer', async () => {
  const parts = partsOf(
    [calls('work'), says('first answer'), says('second answer')],
    [
      tool('work', async () => {
        await session.steer('also this');
        await session.followUp('and later this');
        return 'worked';
      }),
    ],
  );
  const session = await Session.open(parts, memoryLog());
  await session.advance('go');
  assert.deepEqual(texts(session.messages), [
    'go',
    '',
    'results',
    'also this',
    'first answer',
    'and later this',
    'second answer',
  ]);
});

test('a run without input asks with a short message after an answer, and with asIs it sends the history as it is', async () => {
  for (const [asIs, asked, kept] of [
    [false, ['go', 'one', 'Go on.'], ['go', 'one', 'Go on.', 'two']],
    [true, ['go', 'one'], ['go', 'one', '(continued without a new message)', 'two']],
  ] as const) {
    const requests: (readonly string[])[] = [];
    // The scripted provider refuses a request that ends with an answer, as hosted services do.
    const provider: Provider = {
      family: 'ollama',
      model: 'm',
      async *stream({ messages }) {
        requests.push(texts(toArray(messages)));
        const text = ['one', 'two', 'three'][requests.length - 1] ?? '';
        const message: Message = { role: 'assistant', parts: [{ type: 'text', text }] };
        yield { type: 'end', message, finishReason: 'stop', usage: {}, model: 'm' };
      },
    };
    const session = await Session.open(resolveAgent({ provider, system: 's' }), memoryLog());
    await session.advance('go');
    await session.advance(undefined, { asIs });
    assert.deepEqual([requests[1], texts(session.messages)], [asked, kept]);
    await session.advance('more', { asIs });
    assert.deepEqual(requests[2], [...kept, 'more'], 'it does not count for an input');
  }
});

test('steering that arrives with the answer is not lost: the run continues', async () => {
  const parts = partsOf([says('first'), says('second')]);
  const session = await Session.open(parts, memoryLog());
  session.subscribe((event) => {
    if (event.type === 'turn-ended' && event.turn === 1) void session.steer('wait');
  });
  await session.advance('go');
  assert.deepEqual(texts(session.messages), ['go', 'first', 'wait', 'second']);
});

test('[A24] an approval pauses the run; another process may decide; the user is asked once', async () => {
  let sent = 0;
  const ask: Gate = (call) => (call.tool === 'send' ? { type: 'ask', question: 'Send it?' } : { type: 'allow' });
  const send = tool('send', () => `sent ${++sent}`, 'external');
  const log = memoryLog();
  const first = await Session.open(partsOf([calls('send')], [send], { gates: [ask] }), log);
  await first.advance('go');
  const [call] = first.state.calls;
  assert.equal(sent, 0);
  await assert.rejects(first.resolveApproval('nosuch', true), FairleadError);
  const second = await Session.open(partsOf([says('done')], [send], { gates: [ask] }), memoryLog(log.events));
  await second.resolveApproval(call?.id ?? '', true, { by: 'ada' });
  const end = await second.resume();
  assert.deepEqual([sent, end.ended?.reason], [1, 'answered']);
});

test('an edit is a new branch with its reason: the old branch stays, and an invalid conversation is refused', async () => {
  const log = memoryLog();
  const session = await Session.open(partsOf([says('one'), says('two'), says('three')]), log);
  await session.advance('a');
  await session.advance('b');
  const before = log.events.length;
  const edited = session.messages.slice(0, 2).concat([{ role: 'user', parts: [{ type: 'text', text: 'B, not b' }] }]);
  await assert.rejects(session.edit([edited[0] as Message, edited[0] as Message]), /both of role user/);
  assert.equal(log.events.length, before);
  await session.edit(edited, 'a better question');
  assert.equal(log.events.slice(0, before).length, before, 'nothing was removed');
  const branch = log.events[before];
  assert.ok(branch?.type === 'branch-started' && branch.reason === 'edited');
  assert.equal(branch.parent, branch.from);
  await session.advance(undefined);
  assert.deepEqual(texts(session.messages), ['a', 'one', 'B, not b', 'three']);
  await session.rewind(log.events[before - 1]?.id ?? '', 'returned');
  assert.deepEqual(texts(session.messages), ['a', 'one', 'b', 'two']);
});

test('a fork begins with this conversation, or with an earlier state of it, and does not change the original', async () => {
  const log = memoryLog();
  const session = await Session.open(
    partsOf((asked) => says(`to ${asked.prompt}`)),
    log,
  );
  await session.advance('a');
  const early = session.state.head ?? '';
  await session.advance('b');
  const events = log.events.length;
  const whole = await session.fork();
  const part = await session.fork({ log: memoryLog(), at: early });
  await part.advance('c');
  assert.deepEqual(texts(whole.messages), ['a', 'to a', 'b', 'to b']);
  assert.deepEqual(texts(part.messages), ['a', 'to a', 'c', 'to c']);
  assert.equal(log.events.length, events);
  assert.notEqual(part.state.session, session.state.session);
});

test('another model, system prompt or tool begins a new epoch with the reason', async () => {
  const log = memoryLog();
  await (await Session.open(partsOf([says('one')]), log)).advance('a');
  const other = partsOf([says('two')]);
  const renamed = await Session.open(
    { ...other, provider: { ...other.provider, model: 'other' } },
    memoryLog(log.events),
  );
  assert.equal(renamed.state.epoch, 2);
  const retold = await Session.open(partsOf([], [], { system: 'another' }), memoryLog(log.events));
  assert.deepEqual([retold.state.epoch, retold.state.system], [2, 'another']);
  assert.deepEqual(texts(retold.messages), ['a', 'one']);
});

test('[J53] a session continues with another model in a new epoch with the reason', async () => {
  const first = partsOf([says('one')]);
  const second = partsOf([says('two')]);
  const session = await Session.open(first, memoryLog());
  await session.advance('a');
  await session.setAgent({ ...second, provider: { ...second.provider, model: 'other' } });
  assert.deepEqual([session.state.epoch, session.state.model], [2, 'other']);
  await session.advance('b');
  assert.deepEqual(texts(session.messages), ['a', 'one', 'b', 'two']);
  assert.equal(session.agent.provider.model, 'other');
});

test('a run that is cancelled while a tool hangs ends and can be continued', async () => {
  const session = await Session.open(
    partsOf([calls('hang'), says('fine')], [tool('hang', () => new Promise(() => {}), 'external')]),
    memoryLog(),
  );
  session.subscribe((event) => event.type === 'tool-started' && session.cancel());
  const state = await session.advance('go');
  assert.equal(state.ended?.reason, 'cancelled');
  assert.equal(historyError(session.messages), undefined);
  assert.equal((await session.advance('again')).ended?.reason, 'answered');
});

test('a second run in an active session is refused with one sentence', async () => {
  const session = await Session.open(partsOf([says('slow', { delayMs: 20 })]), memoryLog());
  const going = session.advance('a');
  await assert.rejects(
    session.advance('b'),
    (error) => error instanceof FairleadError && error.code === 'session/running',
  );
  await going;
});

test('a sub-agent has its parent’s gates and a share of its limits, and is charged to the parent', async () => {
  const seen: string[] = [];
  const gate: Gate = (call) => (
    seen.push(call.tool),
    call.tool === 'danger' ? { type: 'deny', reason: 'no' } : { type: 'allow' }
  );
  let ran = 0;
  const danger = tool('danger', () => ++ran);
  const helper = agentTool({ name: 'helper', description: 'Does a part of it.', system: 'You help.' });
  const parts = partsOf(
    (asked) => {
      const child = asked.body.system === 'You help.';
      if (child) return asked.results.length ? says('child done') : calls('danger').and(calls('helper', { task: 'x' }));
      return asked.results.length ? says('all done') : calls('helper', { task: 'do it' });
    },
    [danger, helper],
    { gates: [gate] },
  );
  const session = await Session.open(parts, memoryLog());
  const end = await session.advance('go', { limits: { turns: 5 } });
  assert.equal(end.ended?.reason, 'answered');
  assert.deepEqual([ran, seen], [0, ['helper', 'danger']]);
  assert.equal(end.spent.turns, 4, 'two turns of the parent and two of the sub-agent');
});

test('[A77] the progress of a tool reaches the listener of the run', async () => {
  const received: string[] = [];
  const work: Tool = {
    ...tool('work', () => ''),
    execute: (_input, context) => context.progress?.('half-way'),
  };
  const session = await Session.open(partsOf([calls('work'), says('done')], [work]), memoryLog());
  await session.advance('go', { onToolProgress: (call, text) => received.push(`${call} ${text}`) });
  assert.deepEqual(received, ['c00001000 half-way']);
});
