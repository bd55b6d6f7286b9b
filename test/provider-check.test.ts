// The real program reports whether a provider is configured, its key is set and a request succeeds, each with its own message and exit code.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { discover } from '../src/providers/index.ts';
import { calls, closedUrl, fails, says, type ScriptRequest } from '../src/testing/index.ts';
import { createProgram, type ProgramResult, type TestProgram } from './support/cli-harness.ts';

const key = 'the-key-that-is-right';

/** A scripted model that calls the tool that the prompt names. */
const compliantScript = ({ prompt, tools }: ScriptRequest<JsonObject>) =>
  tools.includes('report_number') ? calls('report_number', { number: Number(/\d+/.exec(prompt)?.[0]) }) : says('Fine.');

type CheckResult = {
  /** The results of the doctor's checks by name, and their messages. */
  readonly doctor: {
    readonly code: number | null;
    readonly statuses: Record<string, string>;
    readonly messages: string;
  };
  readonly connection: ProgramResult;
  readonly query: ProgramResult;
};

/** A provider that requires a key, at the server of the test. */
const createTestProgram = (
  t: TestContext,
  script: Parameters<typeof createProgram>[1] = compliantScript,
): Promise<TestProgram> => createProgram(t, script, { key, models: [{ id: 'alpha', tools: true, context: 32_000 }] });

/** All checks that a user can run, one after the other. */
async function runCheck(here: TestProgram, env: Readonly<Record<string, string>>): Promise<CheckResult> {
  const around = {
    HARNESS_INFERENCE_PROVIDER: 'anthropic',
    ANTHROPIC_BASE_URL: `${here.server.url}/v1`,
    OLLAMA_API_URL: '',
    SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: 'no-such-engine',
    ...env,
  };
  const examined = await here.run(['doctor', '--json', '--model', 'anthropic/alpha'], { env: around });
  const { checks } = JSON.parse(examined.out) as {
    readonly checks: readonly Record<'name' | 'status' | 'message', string>[];
  };
  const connection = await here.call(['--one-shot', '--test-connection'], { env: around });
  const query = await here.call(['--one-shot', '--model', 'anthropic/alpha', '--prompt', 'hello'], { env: around });
  const { ANTHROPIC_API_KEY: secret } = env;
  for (const { out, err } of [examined, connection, query])
    assert.ok(secret === undefined || !`${out}${err}`.includes(secret), 'no key is shown');
  return {
    doctor: {
      code: examined.code,
      statuses: Object.fromEntries(checks.map(({ name, status }) => [name, status])),
      messages: checks.map((check) => check.message).join('\n'),
    },
    connection,
    query,
  };
}

test('[P61] with a provider, its key and a model that answers, the doctor makes a request, and so can the user', async (t) => {
  const here = await createTestProgram(t);
  const { doctor, connection, query } = await runCheck(here, { ANTHROPIC_API_KEY: key });
  assert.deepEqual(
    [doctor.code, doctor.statuses['provider'], doctor.statuses['tool calling']],
    [0, 'ok', 'ok'],
    doctor.messages,
  );
  assert.match(doctor.messages, /^anthropic answers \(\d+ ms\) and has 1 model\.$/m);
  assert.match(doctor.messages, /^anthropic\/alpha called the tool as asked/m);
  assert.deepEqual([connection.code, connection.err], [0, '']);
  assert.match(connection.out, /^anthropic answers/);
  assert.deepEqual([query.code, query.out], [0, 'Fine.\n']);
});

test('[P61] without a key nothing is sent, and the missing variable is named', async (t) => {
  const here = await createTestProgram(t);
  const { doctor, connection, query } = await runCheck(here, {});
  assert.deepEqual([doctor.code, doctor.statuses['provider'], doctor.statuses['tool calling']], [1, 'fail', 'warn']);
  for (const said of [doctor.messages, connection.err, query.err])
    assert.match(said, /^anthropic needs a key, and ANTHROPIC_API_KEY is not set\./m);
  assert.deepEqual([connection.code, query.code], [1, 1]);
  assert.equal(here.server.requests.length, 0);
});

test('[P61] a wrong key is reported with the status 401, and the doctor tries no prompt with it', async (t) => {
  const here = await createTestProgram(t);
  const { doctor, connection, query } = await runCheck(here, { ANTHROPIC_API_KEY: 'a-key-that-is-wrong' });
  assert.deepEqual([doctor.code, doctor.statuses['provider'], doctor.statuses['tool calling']], [1, 'fail', 'warn']);
  for (const said of [doctor.messages, connection.err, query.err])
    assert.match(said, /anthropic did not accept the key \(status 401\)/);
  assert.deepEqual([connection.code, query.code], [1, 1]);
  assert.equal(here.modelRequests().length, 1, 'the request of the user');
});

test('[P61] if a reachable provider refuses the prompt, only the check of the prompt fails', async (t) => {
  const here = await createTestProgram(t, () => fails(403, { message: 'Not for you.' }));
  const { doctor, connection, query } = await runCheck(here, { ANTHROPIC_API_KEY: key });
  assert.deepEqual([doctor.code, doctor.statuses['provider'], doctor.statuses['tool calling']], [1, 'ok', 'fail']);
  assert.match(doctor.messages, /Not for you\./);
  assert.equal(connection.code, 0);
  assert.deepEqual([query.code, query.out], [1, '']);
  assert.match(query.err, /Not for you\./);
});

test('[P61] an unreachable provider has its own exit code', async (t) => {
  const here = await createTestProgram(t);
  const url = await closedUrl();
  const { doctor, connection, query } = await runCheck(here, {
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: `${url}/v1`,
  });
  assert.deepEqual([doctor.code, doctor.statuses['provider'], doctor.statuses['tool calling']], [1, 'fail', 'warn']);
  assert.match(doctor.messages, /Cannot connect to anthropic/);
  assert.deepEqual([connection.code, query.code], [7, 7]);
});

/** A model server that runs on this machine would be found. */
const [found] = (await discover({ env: {} })).filter(({ how }) => how !== 'embedded');

test(
  '[P61] without a configured provider the doctor says so and how to begin, and a connection test fails',
  found ? { skip: `a model server of ${found.provider} runs on this machine` } : {},
  async (t) => {
    const here = await createTestProgram(t);
    const env = { OLLAMA_API_URL: '' };
    const { code, out } = await here.call(['doctor'], { env });
    assert.match(
      out,
      /^warn {2}provider +No model is configured, and no model server answers.*\n +fix: Start a model server .*fairlead login/m,
    );
    assert.match(out, /^warn {2}tool calling +Not tested/m);
    assert.equal(code, 0, 'there is an embedded model');
    const connection = await here.call(['--one-shot', '--test-connection'], { env });
    assert.equal(connection.code, 7);
    assert.match(connection.err, /Cannot connect to ollama/);
  },
);
