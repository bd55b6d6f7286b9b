// Law 3: the request rebuilt from any log prefix is valid, with one result per call, in order.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { fold, historyError, renderRequest, runStateView, toArray, type Message } from '../src/core/index.ts';
import { memoryLog } from '../src/stores/index.ts';
import { runScenario, arbitraryModelTurn, createScenario } from './support/scenario.ts';

test('whatever a model sends, every prefix of the log renders to a valid request', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryModelTurn, { maxLength: 8 }), async (script) => {
      const { agent } = createScenario(script);
      const log = memoryLog();
      await runScenario(agent, log);
      for (let n = 0; n <= log.events.length; n++) {
        const messages = toArray(
          renderRequest(fold(runStateView(agent.rules), log.events.slice(0, n)), agent).messages,
        );
        if (messages.length)
          assert.equal(historyError(messages), undefined, `after event ${n} (${log.events[n - 1]?.type})`);
      }
    }),
    { numRuns: 150 },
  );
});

test('every request that was sent is valid and ends with a user or tool message', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryModelTurn, { maxLength: 8 }), async (script) => {
      const { agent, requests } = createScenario(script);
      await runScenario(agent, memoryLog());
      for (const request of requests) {
        const messages = toArray(request.messages);
        assert.equal(historyError(messages), undefined);
        assert.notEqual(messages.at(-1)?.role, 'assistant');
      }
    }),
    { numRuns: 150 },
  );
});

test('an invalid history is reported: unanswered, answered twice, out of order, empty, two in a row', () => {
  const user: Message = { role: 'user', parts: [{ type: 'text', text: 'x' }] };
  const calls: Message = {
    role: 'assistant',
    parts: ['a', 'b'].map((id) => ({ type: 'tool-call', id, tool: 't', input: {} })),
  };
  const results = (...ids: string[]): Message => ({
    role: 'tool',
    parts: ids.map((id) => ({ type: 'tool-result', id, tool: 't', text: '', failed: false })),
  });
  assert.equal(historyError([user, calls, results('a', 'b')]), undefined);
  for (const bad of [
    [user, calls],
    [user, calls, results('a')],
    [user, calls, results('b', 'a')],
    [user, calls, results('a', 'b', 'b')],
    [user, user],
    [calls, results('a', 'b')],
    [user, results('a')],
    [user, { role: 'assistant', parts: [] }],
    [user, calls, results('a', 'b'), calls, results('a', 'b')],
  ] as Message[][]) {
    assert.notEqual(historyError(bad), undefined, JSON.stringify(bad));
  }
});
