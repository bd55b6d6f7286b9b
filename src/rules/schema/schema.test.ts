// The event schema matches the events that sessions record, and nothing else.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Validator } from '@cfworker/json-schema';
import {
  replyWithError,
  replyWithCalls,
  replyWithText,
  createCoreFixture,
  createTestTool,
} from '../../../test/support/core-fixture.ts';
import { FairleadError, type Event, type Json } from '../../core/index.ts';
import { builtInReminders } from '../reminders/built-in.ts';
import { buildFixtureLog } from '../testing/fixture-log.ts';
import { compileRuleSet } from '../declarative/rule-set.ts';
import { EVENT_SCHEMA_VERSION, eventSchema } from './event-schema.ts';

const validator = new Validator(eventSchema(), '2020-12');

const assertValid = (events: readonly Event[]): void => {
  for (const event of events) {
    const { valid, errors } = validator.validate(JSON.parse(JSON.stringify(event)));
    assert.ok(valid, `${event.type}: ${JSON.stringify(errors.at(-1))}`);
  }
};

test('[M43] every event that a session records matches the schema', async () => {
  const busy = new FairleadError('provider/overloaded', 'Busy.', { blame: 'provider', retry: true });
  const fixture = await createCoreFixture({
    replies: [replyWithError(busy), replyWithCalls('save', 'look'), replyWithText(''), replyWithText('done')],
    tools: [createTestTool('save', 'write', () => 'ok'), createTestTool('look', 'read', () => 'ok')],
    ...compileRuleSet({
      name: 'all',
      reminders: builtInReminders(),
      checks: [{ name: 'fine', run: () => ({ type: 'passed' }) }],
    }),
    gates: [({ tool }) => (tool === 'save' ? { type: 'ask', question: 'May it?' } : { type: 'deny', reason: 'No.' })],
  });
  await fixture.run();
  const [ask] = fixture.eventsOfType('approval-requested');
  await fixture.head.record([
    { type: 'approval-resolved', call: ask?.call ?? '', allowed: true, by: 'ann' },
    { type: 'annotation-added', key: 'k', value: null },
    { type: 'compaction-failed', why: 'Too short.' },
  ]);
  await fixture.run();
  assertValid(fixture.log.events);
  const types = new Set<string>(fixture.log.events.map(({ type }) => type));
  for (const type of ['turn-failed', 'answer-rejected', 'tool-ended', 'run-ended']) assert.ok(types.has(type), type);
  assertValid(
    buildFixtureLog(
      [{ said: 'go' }, { called: 'a' }, { compacted: true }, { model: 'b' }, { answered: 'ok' }],
      compileRuleSet({ name: 'all', reminders: builtInReminders() }),
    ).events,
  );
});

test('[M43] invalid events do not match it, and the schema has its version', () => {
  const place = { seq: 1, id: 'a', parent: null, time: '' };
  const wrong: readonly Json[] = [
    {},
    { ...place, type: 'tool-exploded' },
    { ...place, type: 'tool-ended', call: 'c', outcome: 'fine', text: '', ms: 0 },
    { ...place, type: 'run-ended', reason: 'bored' },
    { type: 'run-ended', reason: 'answered' },
    { ...place, type: 'input-received', input: 'i', how: 'prompt', parts: [{ type: 'smell' }] },
  ];
  for (const event of wrong) assert.equal(validator.validate(event).valid, false, JSON.stringify(event));
  assert.equal(eventSchema()['version'], EVENT_SCHEMA_VERSION);
});
