// Behaviour of the OpenAI Agents SDK bridge in addition to the shared conformance tests.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  Agent,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
  type Model,
  type ModelRequest,
} from '@openai/agents';
import { z } from 'zod';
import type { Gate, Rule, Stop } from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { calls, says, scriptedServer, type ScriptedServer } from '../../testing/index.ts';
import { createInterceptor } from '../interceptor/interceptor.ts';
import { wrapModel, wrapModelProvider, createToolGuardrail, type BridgeOptions } from './index.ts';

setTracingDisabled(true);

const denyDelete: Gate = ({ input }) =>
  JSON.stringify(input).includes('rm -r') ? { type: 'deny', reason: 'Nothing is deleted.' } : { type: 'allow' };
const notingRule: Rule = (event) =>
  event.type === 'input-received' && event.how === 'prompt' ? [{ key: 'n', text: 'Be kind.' }] : [];

const turnLimitStop: Stop = ({ total }) => (total.turns >= 3 ? { reason: 'rule', detail: 'Three turns.' } : undefined);

const runnerFor = ({ url }: ScriptedServer, options: BridgeOptions, useResponses = false): Runner =>
  new Runner({
    modelProvider: wrapModelProvider(new OpenAIProvider({ apiKey: 'k', baseURL: `${url}/v1`, useResponses }), options),
  });

const runTool = (ran: string[], inputGuardrails: Parameters<typeof tool>[0]['inputGuardrails'] = []) =>
  tool({
    name: 'run',
    description: 'Runs.',
    parameters: z.object({ command: z.string() }),
    execute: ({ command }) => `ran ${ran.push(command)}`,
    inputGuardrails,
  });

for (const [how, where] of Object.entries({ 'in its own log': { log: memoryLog() }, 'among many': {} }))
  test(`[M42] responses chained by id are one conversation ${how}, and only new messages are sent`, async () => {
    await using server = await scriptedServer(
      [calls('run', { command: 'rm -r' }), says('Then not.'), says('Still here.')],
      {
        validate: false,
      },
    );
    const runner = runnerFor(
      server,
      { gates: [denyDelete], rules: [notingRule], stops: [turnLimitStop], ...where },
      true,
    );
    const agent = new Agent({ name: 'a', instructions: 'Help.', model: 'gpt-x', tools: [runTool([])] });
    const first = await runner.run(agent, 'Go.');
    assert.equal(first.finalOutput, 'Then not.');
    const second = await runner.run(agent, 'And?', { previousResponseId: first.lastResponseId ?? '' });
    assert.equal(second.finalOutput, 'Still here.');
    const sent = JSON.stringify(server.requests[2]?.body);
    assert.match(sent, /previous_response_id/);
    assert.ok(!sent.includes('rm -r') && !sent.includes('Go.'));
    assert.equal(sent.split('Be kind.').length, 2, 'the history stored by the service has the first note');
    const third = await runner.run(agent, 'More?', { previousResponseId: second.lastResponseId ?? '' });
    assert.match(
      third.finalOutput ?? '',
      /Three turns/,
      'the interceptor counts the turns that are stored by the service',
    );
  });

test('a conversationId of the service is refused before anything is sent', async () => {
  await using server = await scriptedServer([]);
  const agent = new Agent({ name: 'a', model: 'gpt-x' });
  await assert.rejects(runnerFor(server, {}, true).run(agent, 'Go.', { conversationId: 'conv_1' }), /conversationId/);
  assert.equal(server.requests.length, 0);
});

test('a handoff is checked like any other call, and the interceptor continues with the next agent', async () => {
  const ran: string[] = [];
  const other = new Agent({ name: 'Cleaner', instructions: 'You clean.', model: 'm', tools: [runTool(ran)] });
  const agent = new Agent({ name: 'Triage', instructions: 'You send on.', model: 'm', handoffs: [other] });
  await using server = await scriptedServer([
    calls('transfer_to_Cleaner', {}),
    calls('run', { command: 'rm -r' }),
    says('Then not.'),
  ]);
  const log = memoryLog();
  const { finalOutput, lastAgent } = await runnerFor(server, { gates: [denyDelete], log }).run(agent, 'Go.');
  assert.equal(finalOutput, 'Then not.');
  assert.equal(lastAgent?.name, 'Cleaner');
  assert.deepEqual(ran, []);
  assert.equal(log.events.filter(({ type }) => type === 'session-started').length, 1);

  server.setScript([calls('transfer_to_Cleaner', {}), says('I do it myself.')]);
  const stays: Gate = ({ tool: name }) =>
    name.startsWith('transfer_') ? { type: 'deny', reason: 'Do it yourself.' } : { type: 'allow' };
  const kept = await runnerFor(server, { gates: [stays] }).run(agent, 'Go.');
  assert.equal(kept.lastAgent?.name, 'Triage');
});

test('a denied call that is not a function is left out of the history, and a message tells the model', async () => {
  const asked: ModelRequest[] = [];
  const model: Model = {
    async getResponse(request) {
      asked.push(request);
      const call = {
        type: 'shell_call' as const,
        callId: 's1',
        status: 'completed' as const,
        action: { commands: ['rm -r all'] },
      };
      const words = {
        type: 'message' as const,
        role: 'assistant' as const,
        status: 'completed' as const,
        content: [{ type: 'output_text' as const, text: 'Then not.' }],
      };
      return { usage: new Usage(), output: asked.length === 1 ? [call] : [words] };
    },
    getStreamedResponse: () => assert.fail('not streamed'),
  };
  const guided: Model = wrapModel(model, { gates: [denyDelete] });
  const { finalOutput } = await new Runner().run(new Agent({ name: 'a', model: guided }), 'Go.');
  assert.equal(finalOutput, 'Then not.');
  const told = JSON.stringify(asked[1]?.input);
  assert.ok(!told.includes('shell_call'));
  assert.match(told, /Your call of shell was not made: Nothing is deleted\./);
});

test('[M41] a tool guardrail denies calls that did not come from a wrapped model, as the SDK reports denials', async () => {
  await using server = await scriptedServer([calls('run', { command: 'rm -r' }), says('Then not.')]);
  const ran: string[] = [];
  const interceptor = await createInterceptor({ gates: [denyDelete] });
  const provider = new OpenAIProvider({ apiKey: 'k', baseURL: `${server.url}/v1`, useResponses: false });
  const agent = new Agent({ name: 'a', model: 'm', tools: [runTool(ran, [createToolGuardrail(interceptor)])] });
  const { finalOutput } = await new Runner({ modelProvider: provider }).run(agent, 'Go.');
  assert.equal(finalOutput, 'Then not.');
  assert.deepEqual(ran, []);
  assert.match(JSON.stringify(server.requests[1]?.body), /Nothing is deleted/);
});
