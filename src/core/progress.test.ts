// Progress of a tool: shown while it runs, not recorded, and ignored after its call has ended.
import assert from 'node:assert/strict';
import test from 'node:test';
import { replyWithCalls, createCoreFixture, createTestTool } from '../../test/support/core-fixture.ts';
import { runLoop, type ToolContext } from './index.ts';

const signal = new AbortController().signal;
const silentContext = { signal, onChunk: (): void => {}, clock: (): number => performance.now() };

test('[A77] listeners get the progress of a tool with the id of its call, and the log does not contain it', async () => {
  const heard: string[] = [];
  const build = createTestTool('build', 'external', (_input, context) => {
    context.progress?.('half-way there');
    assert.deepEqual(heard, ['c00001000 half-way there']);
    return 'built';
  });
  const fixture = await createCoreFixture({ replies: [replyWithCalls('build')], tools: [build] });
  await runLoop(fixture.agent, {
    ...silentContext,
    writer: fixture.head,
    onToolProgress: (call, text) => heard.push(`${call} ${text}`),
  });
  assert.deepEqual(heard, ['c00001000 half-way there']);
  assert.ok(!JSON.stringify(fixture.log.events).includes('half-way'));
});

test('a listener that throws does not fail the call, and progress after the end of a call is ignored', async () => {
  let late: ToolContext['progress'];
  let heard = 0;
  const build = createTestTool('build', 'external', (_input, context) => {
    late = context.progress;
    late?.('now');
    return 'built';
  });
  const fixture = await createCoreFixture({ replies: [replyWithCalls('build')], tools: [build] });
  const progress = (): never => {
    heard++;
    throw new Error('onlooker');
  };
  await runLoop(fixture.agent, { ...silentContext, writer: fixture.head, onToolProgress: progress });
  late?.('much later');
  assert.equal(heard, 1);
  const ended = fixture.log.events.find((event) => event.type === 'tool-ended');
  assert.deepEqual([ended?.outcome, ended?.text], ['ok', 'built']);
});
