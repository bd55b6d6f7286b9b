// Calls of nonstandard servers: every call that a client could parse from a response is checked, or the response is not forwarded.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Gate } from '../../core/index.ts';
import { wrapFetch, type FetchFunction } from '../clients/fetch.ts';

const denyDelete: Gate = ({ tool, input }) =>
  tool === 'wipe' || JSON.stringify(input).includes('/etc')
    ? { type: 'deny', reason: 'Nothing is deleted here.' }
    : { type: 'allow' };

/** Returns what the caller gets if a server answers the first request with `body`, and later ones with `words`. */
async function interceptedBody(path: string, type: string, body: string, words: string): Promise<string> {
  let asked = 0;
  const server: FetchFunction = async () =>
    new Response(asked++ === 0 ? body : words, { headers: { 'content-type': type } });
  const send = wrapFetch({ gates: [denyDelete] }, server);
  const request = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Go.' }], input: 'Go.' };
  const answer = await send(`http://model.test${path}`, { method: 'POST', body: JSON.stringify(request) });
  return answer.text();
}

const sse = 'text/event-stream';
const formatFrames = (events: readonly object[], end = '\n\n'): string =>
  events.map((event) => `data: ${JSON.stringify(event)}${end}`).join('');
const chunk = (delta: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const wipe = (more: object = {}): object => ({
  tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'wipe', arguments: '' }, ...more }],
});
const chatTextFrames = formatFrames([chunk({ content: 'No, then.' }), chunk({}, 'stop')]);
const chat = '/v1/chat/completions';

test('[M31] a tool name that is repeated in every chunk of a call is one name', async () => {
  const body = formatFrames([
    chunk(wipe()),
    chunk(wipe({ function: { name: 'wipe', arguments: '{}' } })),
    chunk({}, 'tool_calls'),
  ]);
  assert.doesNotMatch(await interceptedBody(chat, sse, body, chatTextFrames), /wipe/);
});

test('[M31] calls with one index and several ids are several calls', async () => {
  const read = { index: 0, id: 'r', type: 'function', function: { name: 'look', arguments: '' } };
  const body = formatFrames([chunk({ tool_calls: [read] }), chunk(wipe()), chunk({}, 'tool_calls')]);
  assert.doesNotMatch(await interceptedBody(chat, sse, body, chatTextFrames), /wipe/);
});

test('[M31] a call in events without valid separators is not forwarded', async () => {
  const lines = formatFrames([chunk({ content: 'Well.' }), chunk(wipe()), chunk({}, 'tool_calls')], '\n');
  assert.doesNotMatch(await interceptedBody(chat, sse, lines, chatTextFrames), /wipe/);
  assert.doesNotMatch(
    await interceptedBody(chat, sse, `\uFEFF${formatFrames([chunk(wipe())])}`, chatTextFrames),
    /wipe/,
  );
});

test('[M31] a whole answer that only a lenient parser accepts is checked or not forwarded', async () => {
  const whole = {
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...wipe() }, finish_reason: 'tool_calls' }],
  };
  const words = JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'No, then.' }, finish_reason: 'stop' }],
  });
  for (const body of [`\uFEFF${JSON.stringify(whole)}`, `${JSON.stringify(whole)}\n${JSON.stringify(whole)}`])
    assert.doesNotMatch(await interceptedBody(chat, 'application/json', body, words), /wipe/);
});

test('[M31] truncated arguments are not treated as empty, because clients parse them partially', async () => {
  const events = [
    { type: 'message_start', message: { id: 'm', usage: {} } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'run', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"path":"/etc","x":' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: {} },
    { type: 'message_stop' },
  ];
  const words = formatFrames([
    { type: 'message_start', message: { id: 'm', usage: {} } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'No, then.' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
    { type: 'message_stop' },
  ]);
  assert.doesNotMatch(await interceptedBody('/v1/messages', sse, formatFrames(events), words), /etc/);
});

test('[M31] a response that contains its calls only in its last events waits for the decision', async () => {
  const item = { type: 'function_call', id: 'f', call_id: 'a', name: 'wipe', arguments: '{}' };
  const begun = { type: 'response.created', response: { id: 'r', output: [] } };
  const completed = (output: readonly object[]): object => ({
    type: 'response.completed',
    response: { id: 'r', output },
  });
  const words = formatFrames([
    begun,
    completed([{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'No, then.' }] }]),
  ]);
  const done = { type: 'response.output_item.done', output_index: 0, item };
  const added = { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } };
  for (const events of [
    [begun, done, completed([item])],
    [begun, completed([item])],
    [begun, added, { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{}' }, completed([])],
  ])
    assert.doesNotMatch(await interceptedBody('/v1/responses', sse, formatFrames(events), words), /wipe/);
});

test('[M31] calls in an additional choice or candidate are checked too', async () => {
  const message = { role: 'assistant', content: 'Well.' };
  const words = JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] });
  const whole = JSON.stringify({ choices: [{ message }, { message: { ...message, ...wipe() } }] });
  assert.doesNotMatch(await interceptedBody(chat, 'application/json', whole, words), /wipe/);
  const both = {
    choices: [
      { index: 0, delta: { content: 'Well.' } },
      { index: 1, delta: wipe() },
    ],
  };
  assert.doesNotMatch(await interceptedBody(chat, sse, formatFrames([both]), chatTextFrames), /wipe/);
  const candidate = (part: object): object => ({ content: { role: 'model', parts: [part] } });
  const said = candidate({ text: 'Well.' });
  const several = { candidates: [said, candidate({ functionCall: { name: 'wipe', args: {} } })] };
  const gemini = '/v1beta/models/m:generateContent';
  const answer = { candidates: [said] };
  assert.doesNotMatch(
    await interceptedBody(gemini, 'application/json', JSON.stringify(several), JSON.stringify(answer)),
    /wipe/,
  );
  assert.doesNotMatch(await interceptedBody(gemini, sse, formatFrames([several]), formatFrames([answer])), /wipe/);
});
