// The interceptor in another program's loop: the loop keeps its own messages, and the model gets them with the additions.
import assert from 'node:assert/strict';
import test from 'node:test';
import { messageToolCalls, type Gate, type Json, type Message, type Rule } from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import type { MessageAddition } from '../../wire/index.ts';
import { createInterceptor, type Interceptor, type InterceptorOptions } from './interceptor.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const calls = (id: string, tool: string, input: Json = {}): Message => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', id, tool, input }],
});
const result = (id: string, tool: string, text: string): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', id, tool, text, failed: false }],
});
const requestFields = {
  model: 'm',
  system: 'Help.',
  tools: [{ name: 'run', description: 'Runs.', input: { type: 'object' } }],
};

/** What the model reads, as lines: the caller's messages with the additions at their positions. */
function readMessages(messages: readonly Message[], additions: readonly MessageAddition[]): readonly string[] {
  const words = ({ role, parts }: Message): string =>
    `${role}: ${parts.map((part) => ('text' in part ? part.text : 'tool' in part ? `${part.tool}()` : '')).join(' ')}`;
  return messages.flatMap((message, i) => [
    words(message),
    ...additions
      .filter(({ after }) => after === i)
      .flatMap((each) =>
        each.type !== 'exchange'
          ? [`note: ${each.text.replaceAll(/<[^>]*>\n?|\n$/g, '').trim()}`]
          : [words(each.answer), ...each.results.map(({ text }) => `tool: ${text}`)],
      ),
  ]);
}

/** A loop that only calls the interceptor before and after each request. */
async function runLoop(interceptor: Interceptor, prompt: string, answers: Message[], messages: Message[] = []) {
  const requests: (readonly string[])[] = [];
  messages.push(user(prompt));
  for (;;) {
    let action = await interceptor.beforeRequest({ ...requestFields, messages });
    let answer: Message | undefined;
    while (action.type === 'send') {
      requests.push(readMessages(messages, action.additions));
      answer = answers.shift();
      assert.ok(answer, 'the script has answers left');
      action = await interceptor.afterResponse({
        message: answer,
        finish: messageToolCalls(answer).length ? 'tool-calls' : 'stop',
      });
    }
    if (action.type === 'stop') return { requests, stopped: action, messages };
    messages.push(answer as Message);
    const made = messageToolCalls(answer as Message);
    if (made.length === 0) return { requests, messages };
    for (const { id, tool } of made) messages.push(result(id, tool, id.startsWith('bad') ? 'Error: no' : 'fine'));
  }
}

const denyDelete: Gate = ({ input }) =>
  JSON.stringify(input).includes('rm') ? { type: 'deny', reason: 'Nothing is deleted here.' } : { type: 'allow' };
const failing: Rule = (event) =>
  event.type === 'tool-ended' && event.outcome === 'failed' ? [{ key: 'failed', text: 'Try another way.' }] : [];

const openTestInterceptor = (options: InterceptorOptions = {}): Promise<Interceptor> =>
  createInterceptor({ gates: [denyDelete], rules: [failing], ...options });

test('[M41, M42] the requests of another loop are unchanged if there is nothing to add', async () => {
  const { requests, messages } = await runLoop(await openTestInterceptor(), 'Go.', [calls('a', 'run'), says('Done.')]);
  assert.deepEqual(requests, [['user: Go.'], ['user: Go.', 'assistant: run()', 'tool: fine']]);
  assert.equal(messages.length, 4);
});

test('[M4, M6] a note is added after the result that caused it, and stays there: each request extends the previous one', async () => {
  const answers = [calls('bad1', 'run'), calls('b', 'run'), says('Done.')];
  const { requests } = await runLoop(await openTestInterceptor(), 'Go.', answers);
  assert.deepEqual(requests[1]?.slice(-1), ['note: Try another way.']);
  for (const [i, request] of requests.slice(1).entries())
    assert.deepEqual(request.slice(0, requests[i]?.length), requests[i], 'the prefix is unchanged');
  assert.equal(requests[2]?.filter((line) => line.startsWith('note:')).length, 1);
});

test('[M31] a denied call never reaches the caller: the model gets the reason and another request', async () => {
  const answers = [calls('a', 'run', { command: 'rm -r' }), calls('b', 'run', { command: 'ls' }), says('Done.')];
  const { requests, messages } = await runLoop(await openTestInterceptor(), 'Clean up.', answers);
  assert.deepEqual(requests[1], ['user: Clean up.', 'assistant: run()', 'tool: Nothing is deleted here.']);
  assert.deepEqual(requests[2]?.slice(0, 3), requests[1], 'the denial stays at its position');
  assert.ok(!JSON.stringify(messages).includes('rm -r'));
});

test('a model that repeats a denied call is stopped after a limited number of denials', async () => {
  const stubborn = Array.from({ length: 20 }, (_, i) => calls(`c${i}`, 'run', { command: 'rm' }));
  const { stopped, requests } = await runLoop(await openTestInterceptor({ limits: { errors: 3 } }), 'Go.', stubborn);
  assert.equal(stopped?.reason, 'error-threshold');
  assert.equal(requests.length, 3);
});

test('[M25, M37] stop conditions are evaluated on the state, before a request is sent', async () => {
  const stop: InterceptorOptions['stops'] = [
    ({ spent }) => (spent.turns >= 2 ? { reason: 'rule', detail: 'Enough.' } : undefined),
  ];
  const answers = [calls('a', 'run'), calls('b', 'run'), says('never asked')];
  const { stopped } = await runLoop(await openTestInterceptor({ stops: stop }), 'Go.', answers);
  assert.deepEqual([stopped?.reason, stopped?.detail, answers.length], ['rule', 'Enough.', 1]);
});

test('after a failed check the model answers again, and the caller gets only the answer that passed', async () => {
  const check = {
    name: 'polite',
    run: ({ messages }: Interceptor['state']) => {
      const last = messages.items[messages.length - 1];
      return JSON.stringify(last).includes('please')
        ? ({ type: 'passed' } as const)
        : ({ type: 'failed', why: 'Say please.' } as const);
    },
  };
  const { requests, messages } = await runLoop(await openTestInterceptor({ checks: [check] }), 'Ask.', [
    says('Give.'),
    says('Give, please.'),
  ]);
  assert.deepEqual(requests[1], ['user: Ask.', 'assistant: Give.', 'note: Say please.']);
  assert.equal(messages.length, 2);
});

test('a gate that asks calls askUser, and denies the call if there is no askUser', async () => {
  const asks: Gate = () => ({ type: 'ask', question: 'Run it?' });
  const asked: string[] = [];
  const yes = await openTestInterceptor({
    gates: [asks],
    askUser: async (_call, question) => asked.push(question) > 0,
  });
  await runLoop(yes, 'Go.', [calls('a', 'run'), says('Done.')]);
  assert.deepEqual(asked, ['Run it?']);
  const { requests } = await runLoop(await openTestInterceptor({ gates: [asks] }), 'Go.', [
    calls('a', 'run'),
    says('No.'),
  ]);
  assert.match(requests[1]?.at(-1) ?? '', /there is no user to ask/);
});

test('an edited or forked conversation continues on a branch of the log', async () => {
  const interceptor = await openTestInterceptor();
  const { messages } = await runLoop(interceptor, 'Go.', [calls('bad1', 'run'), says('Done.')]);
  const edited = [user('Go.'), calls('bad1', 'run'), result('bad1', 'run', 'fine after all')];
  const action = await interceptor.beforeRequest({ ...requestFields, messages: edited });
  assert.equal(action.type, 'send');
  assert.deepEqual(
    readMessages(edited, action.type === 'send' ? action.additions : []).length,
    3,
    'the note belongs to the other branch',
  );
  assert.equal(messages.length, 4);
  assert.ok(interceptor.state.seq > 0);
});

test('an interceptor that is reopened on its log adds the same notes at the same positions', async () => {
  const log = memoryLog();
  const messages: Message[] = [];
  const first = await openTestInterceptor({ log });
  const { requests } = await runLoop(first, 'Go.', [calls('bad1', 'run'), says('Done.')], messages);
  const again = await openTestInterceptor({ log: memoryLog(log.events) });
  const more = await runLoop(again, 'And now?', [says('Nothing.')], messages);
  assert.deepEqual(more.requests[0]?.slice(0, requests[1]?.length), requests[1]);
});

test('a call with arguments that are not JSON is not forwarded, because the gates could not read them', async () => {
  const broken: Message = {
    role: 'assistant',
    parts: [{ type: 'tool-call', id: 'a', tool: 'run', input: {}, invalid: '{"command": rm' }],
  };
  const { requests, messages } = await runLoop(await openTestInterceptor(), 'Go.', [broken, says('Done.')]);
  assert.match(requests[1]?.at(-1) ?? '', /not JSON/);
  assert.equal(messages.length, 2);
});

test('without limits a loop is not stopped, however long, failing or repetitive it is', async () => {
  const answers = [...Array.from({ length: 40 }, () => calls('bad', 'run')), says('Done.')];
  const { stopped, messages } = await runLoop(await openTestInterceptor({ readOnlyTools: ['run'] }), 'Go.', answers);
  assert.equal(stopped, undefined);
  assert.equal(messages.length, 82);
});

test('[M2] system text is added once, and stays when the interceptor is reopened without it', async () => {
  const log = memoryLog();
  const first = await openTestInterceptor({ log, system: 'Reminders exist.' });
  await first.beforeRequest({ ...requestFields, messages: [user('Go.')] });
  const again = await openTestInterceptor({ log: memoryLog(log.events) });
  const action = await again.beforeRequest({
    ...requestFields,
    messages: [user('Go.'), says('Done.'), user('More.')],
  });
  assert.deepEqual(action.type === 'send' && action.additions[0], {
    type: 'system',
    after: -1,
    text: 'Reminders exist.',
  });
});

test('user text next to a tool result is recorded, and an accepted answer is not counted twice', async () => {
  const interceptor = await openTestInterceptor();
  await interceptor.beforeRequest({ ...requestFields, messages: [user('Go.')] });
  await interceptor.acceptResponse({ message: calls('a', 'run', { command: 'rm' }), finish: 'tool-calls' });
  const beside: Message = { role: 'tool', parts: [...result('a', 'run', 'fine').parts, ...user('Hurry.').parts] };
  const action = await interceptor.beforeRequest({
    ...requestFields,
    messages: [user('Go.'), calls('a', 'run', { command: 'rm' }), beside],
  });
  assert.equal(action.type, 'send');
  assert.ok(JSON.stringify(interceptor.state.messages.items).includes('Hurry.'));
  assert.equal(interceptor.state.spent.turns, 2, 'it is not counted twice');
});
