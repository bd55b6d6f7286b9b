// Valid histories: what every wire format accepts, and one sentence for each invalid one.
import assert from 'node:assert/strict';
import test from 'node:test';
import { historyError, type Message, type MessagePart } from './index.ts';

const user: Message = { role: 'user', parts: [{ type: 'text', text: 'go' }] };
const says: Message = { role: 'assistant', parts: [{ type: 'text', text: 'fine' }] };
const calls = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ type: 'tool-call', id, tool: 't', input: {} })),
});
const results = (...ids: readonly string[]): Message => ({
  role: 'tool',
  parts: ids.map((id): MessagePart => ({ type: 'tool-result', id, tool: 't', text: 'x', failed: false })),
});
const mixed = (role: Message['role'], message: Message): Message => ({
  role,
  parts: [...user.parts, ...message.parts],
});

const legal: Readonly<Record<string, readonly Message[]>> = {
  nothing: [],
  'a user message': [user],
  'a user message and its answer': [user, says],
  'text next to a call': [user, mixed('assistant', calls('a')), results('a'), says],
  'several calls and a user message after their results': [user, calls('a', 'b'), results('a', 'b'), user, says],
};
for (const [what, messages] of Object.entries(legal)) {
  test(`${what}: valid`, () => assert.equal(historyError(messages), undefined));
}

const wrong: Readonly<Record<string, readonly [readonly Message[], RegExp]>> = {
  'an answer first': [[says], /first message/],
  'two user messages in a row': [[user, user], /both of role user/],
  'two assistant messages in a row': [[user, says, says], /both of role assistant/],
  'an empty message': [[user, { role: 'assistant', parts: [] }], /empty/],
  'a call without a result': [[user, calls('a')], /last message are not answered/],
  'a call followed by text': [[user, calls('a'), user], /not answered by message 3/],
  'one of two calls answered': [[user, calls('a', 'b'), results('a')], /answers a where a, b/],
  'calls answered out of order': [[user, calls('a', 'b'), results('b', 'a')], /answers b, a/],
  'a call answered twice': [[user, calls('a'), results('a', 'a')], /answers a, a/],
  'one result whose id looks like two': [[user, calls('a', 'b'), results('a,b')], /answers/],
  'results without a call': [[user, says, results('a')], /not made/],
  'an id used twice in one message': [[user, calls('a', 'a'), results('a', 'a')], /used twice/],
  'an id used again later': [[user, calls('a'), results('a'), calls('a'), results('a')], /used twice/],
  'a call in a user message': [[{ role: 'user', parts: calls('a').parts }], /Message 1 of role user holds a tool-call/],
  'a result next to text': [[user, calls('a'), mixed('tool', results('a'))], /holds a text/],
  'a result in an assistant message': [[user, mixed('assistant', results('a'))], /holds a tool-result/],
};
for (const [what, [messages, sentence]] of Object.entries(wrong)) {
  test(`${what}: reported with its problem`, () => assert.match(historyError(messages) ?? 'legal', sentence));
}
