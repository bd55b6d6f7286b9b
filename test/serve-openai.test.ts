// `fairlead serve` as a model for other programs, started from the command line, with its own tools, policy and models.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import OpenAI, { BadRequestError, NotFoundError, UnprocessableEntityError } from 'openai';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import {
  createProgram,
  requestToolNames,
  waitUntil,
  type TestProgram,
  type RunningProgram,
} from './support/cli-harness.ts';

const key = 'a-key-that-operates-this-test';

type ServedProgram = { readonly process: RunningProgram; readonly client: OpenAI };

/** Prepares the program. */
async function createServeProgram(t: TestContext, script: Script<JsonObject>): Promise<TestProgram> {
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  return program;
}

/** Starts `fairlead serve`, and creates a client for it. */
async function startServe(t: TestContext, program: TestProgram): Promise<ServedProgram> {
  const process = program.start(['serve', '--port', '0'], { env: { HARNESS_API_KEY: key } });
  t.after(() => process.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(process.err()), 30_000);
  const baseURL = `${/Listening at (\S+)/.exec(process.err())?.[1]}/v1`;
  return { process, client: new OpenAI({ baseURL, apiKey: key, maxRetries: 0, timeout: 25_000 }) };
}

const charge = {
  type: 'function' as const,
  function: {
    name: 'charge_card',
    description: 'Charges.',
    parameters: { type: 'object', properties: { amount: { type: 'number' } } },
  },
};
const question = { role: 'user' as const, content: 'Read the note, then charge the card with 5 euros.' };
const schema = {
  type: 'object',
  properties: { paid: { type: 'boolean' } },
  required: ['paid'],
  additionalProperties: false,
};

test('[A52, A53] a client tool is offered with those of the program and needs no approval; after a crash of the server its result is still accepted', async (t) => {
  const program = await createServeProgram(t, ({ results }) =>
    results.length === 0
      ? calls('read_file', { path: 'note.txt' })
      : results.length === 1
        ? calls('charge_card', { amount: 5 })
        : says(JSON.stringify({ paid: results.join().includes('five euros') && results.join().includes('charged') })),
  );
  writeFileSync(path.join(program.cwd, 'note.txt'), 'It is five euros.\n');
  const { process, client } = await startServe(t, program);
  const asked = {
    model: 'qwen3',
    temperature: 0.25,
    user: 'somebody',
    metadata: { run: '7' },
    store: false,
    service_tier: 'auto' as const,
    tools: [charge],
    response_format: { type: 'json_schema' as const, json_schema: { name: 'paid', schema } },
  };
  const first = await client.chat.completions.create({ ...asked, messages: [question] });
  const [choice] = first.choices;
  assert.equal(choice?.finish_reason, 'tool_calls', JSON.stringify(first));
  const [call] = choice.message.tool_calls ?? [];
  const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: 'charged' };
  process.kill('SIGKILL');
  await process.ended;
  const after = await startServe(t, program);
  const back = { ...asked, messages: [question, choice.message, result] };
  const second = await after.client.chat.completions.create(back);
  assert.deepEqual(JSON.parse(second.choices[0]?.message.content ?? ''), { paid: true });
  const [request] = program.modelRequests();
  assert.ok(requestToolNames(request).includes('charge_card') && requestToolNames(request).includes('read_file'));
  const { options } = (request?.body ?? {}) as { readonly options?: JsonObject };
  assert.equal(options?.['temperature'], 0.25);
});

test('an unknown model, a reserved tool name and a model without tools are refused in the format of OpenAI, and a policy applies to client tools', async (t) => {
  const program = await createServeProgram(t, ({ results }) =>
    results.length === 0 ? calls('charge_card') : says(results.join()),
  );
  mkdirSync(path.join(program.cwd, '.fairlead'), { recursive: true });
  writeFileSync(path.join(program.cwd, '.fairlead', 'policy.yaml'), 'rules:\n  - deny: { tool: charge_card }\n');
  const { client } = await startServe(t, program);
  const asked = { model: 'fairlead', messages: [question] };
  await assert.rejects(
    client.chat.completions.create({ ...asked, model: 'gpt-9' }),
    (error) => error instanceof NotFoundError && error.code === 'model_not_found' && error.param === 'model',
  );
  await assert.rejects(
    client.chat.completions.create({ ...asked, model: 'anthropic/claude-sonnet-4-5' }),
    (error) => error instanceof UnprocessableEntityError && /ANTHROPIC_API_KEY/.test(error.message),
    'a model of another provider can be named',
  );
  const clash = { type: 'function' as const, function: { name: 'run_command', parameters: { type: 'object' } } };
  await assert.rejects(
    client.chat.completions.create({ ...asked, tools: [clash] }),
    (error) => error instanceof BadRequestError && error.param === 'tools' && /run_command/.test(error.message),
  );
  await assert.rejects(
    client.chat.completions.create({ ...asked, model: 'tiny', tools: [charge] }),
    (error) => error instanceof BadRequestError && error.param === 'tools' && /cannot call tools/.test(error.message),
  );
  const { choices } = await client.chat.completions.create({ ...asked, tools: [charge] });
  assert.match(choices[0]?.message.content ?? '', /policy denies/);
  await assert.rejects(
    client.chat.completions.create({ ...asked, response_format: { type: 'json_object' }, tools: [charge] }),
    (error) => error instanceof UnprocessableEntityError,
  );
});
