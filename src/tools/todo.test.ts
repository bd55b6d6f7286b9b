// The to-do list is read from the log alone.
import assert from 'node:assert/strict';
import test from 'node:test';
import { replyWithCalls, replyWithText, createCoreFixture } from '../../test/support/core-fixture.ts';
import { createToolRegistry } from '../agent/index.ts';
import { fold } from '../core/index.ts';
import { todo, todoView } from './todo.ts';

test('the list of a session is the latest accepted one in its log', async () => {
  const one = { items: [{ text: 'Splice', status: 'doing' }] };
  const two = {
    items: [
      { text: 'Splice\u001b', status: 'done' },
      { text: 'Whip', status: 'open' },
    ],
  };
  const bad = { items: [{ text: 'Haul', status: 'perhaps' }] };
  const fixture = await createCoreFixture({
    replies: [
      replyWithCalls(['todo', one]),
      replyWithCalls(['todo', two]),
      replyWithCalls(['todo', bad]),
      replyWithText('done'),
    ],
    tools: [...createToolRegistry([todo]).values()],
  });
  await fixture.run();
  const events = [];
  for await (const batch of fixture.log.read()) events.push(...batch);
  assert.deepEqual(fold(todoView, events), { calls: [], items: two.items });
  const ends = fixture.eventsOfType('tool-ended').map(({ outcome, text }) => `${outcome} ${text}`);
  assert.deepEqual(ends.slice(0, 2), ['ok ▶ Splice', 'ok ☑ Splice␛\n☐ Whip']);
  assert.match(ends[2] ?? '', /^failed /);
});
