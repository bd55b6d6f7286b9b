// Applies rules to the Vercel AI SDK: its loop, tools and streams stay its own.
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isStepCount, streamText, tool, wrapLanguageModel } from 'ai';
import { fairleadMiddleware } from 'fairlead/bridges/ai-sdk';
import { reminderSystemPrompt, confirm, defineReminder, toolFailures, compileRuleSet } from 'fairlead/rules';
import { memoryLog } from 'fairlead/stores';
import { calls, says, scriptedServer } from 'fairlead/testing';
import { z } from 'zod';

await using server = await scriptedServer([
  calls('run', { command: 'make tset' }),
  calls('delete_file', { path: 'Makefile' }),
  calls('run', { command: 'make test' }),
  says('The tests pass.'),
]);
const anyModel = createOpenAICompatible({ name: 'any', baseURL: `${server.url}/v1`, includeUsage: true })('any-model');

const rules = {
  name: 'project-rules',
  gates: [confirm({ which: ['delete_file'] })],
  reminders: [
    defineReminder({
      name: 'another-way',
      on: 'tool-ended',
      when: ({ state }) => toolFailures(state, 'run').inARow >= 1,
      message: 'Read the error before you try again.',
    }),
  ],
};
const log = memoryLog();
const model = wrapLanguageModel({
  model: anyModel,
  middleware: fairleadMiddleware({ ...compileRuleSet(rules), system: reminderSystemPrompt, log }),
});

const deleted: string[] = [];
const { textStream } = streamText({
  model,
  prompt: 'Run the tests.',
  stopWhen: isStepCount(10),
  tools: {
    run: tool({
      description: 'Runs a command.',
      inputSchema: z.object({ command: z.string() }),
      execute: ({ command }) => (command === 'make test' ? 'ok' : `Error: no rule to make target: ${command}`),
    }),
    delete_file: tool({
      description: 'Deletes a file.',
      inputSchema: z.object({ path: z.string() }),
      execute: ({ path }) => `deleted ${deleted.push(path)}`,
    }),
  },
});
let text = '';
for await (const piece of textStream) text += piece;

assert.equal(text, 'The tests pass.');
assert.deepEqual(deleted, [], 'no user could approve it, so nothing was deleted');
assert.match(JSON.stringify(server.requests[0]?.body), /System reminders/);
assert.match(JSON.stringify(server.requests[1]?.body), /Read the error before you try again/);
const outcomes = log.events.flatMap((event) => (event.type === 'tool-ended' ? [event.outcome] : []));
assert.deepEqual(outcomes, ['failed', 'denied', 'ok']);
