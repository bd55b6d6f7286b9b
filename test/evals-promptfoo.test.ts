// promptfoo against the real server: the example configurations are valid, answers are asserted through the OpenAI endpoint, and tool calls through the trace.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { parse } from 'yaml';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type Script } from '../src/testing/index.ts';
import { createProgram, waitUntil } from './support/cli-harness.ts';

const folder = path.resolve(import.meta.dirname, '../examples/evals/promptfoo');
const key = 'a-key-for-the-external-runner';

/** The program: named by FAIRLEAD_TEST_PROMPTFOO, or in PATH. */
const promptfoo = [
  process.env['FAIRLEAD_TEST_PROMPTFOO'],
  ...(process.env['PATH'] ?? '').split(path.delimiter).map((each) => path.join(each, 'promptfoo')),
].find((file) => file !== undefined && existsSync(file));
const skip = promptfoo === undefined ? 'promptfoo is not installed (FAIRLEAD_TEST_PROMPTFOO or PATH)' : false;

type Config = {
  readonly tests: readonly { readonly vars: { readonly task: string }; readonly assert: readonly { type: string }[] }[];
  readonly tracing?: { readonly otlp: { readonly http: { port: number } } };
};
const readConfig = (name: string): Config => parse(readFileSync(path.join(folder, name), 'utf8')) as Config;

type PromptfooReport = {
  readonly results: {
    readonly stats: { readonly successes: number; readonly failures: number; readonly errors: number };
    readonly results: readonly {
      readonly success: boolean;
      readonly error?: string;
      readonly testCase: { readonly description: string };
      readonly gradingResult?: {
        readonly componentResults?: readonly {
          readonly pass: boolean;
          readonly assertion?: { readonly type: string };
        }[];
      };
    }[];
  };
};

/** A model that solves the tasks of the examples; a bad one guesses, and reads what it must not read. */
const createScript =
  (isBad: boolean): Script<JsonObject> =>
  ({ prompt, results }) => {
    if (prompt.includes('Do not read'))
      return isBad && results.length === 0 ? calls('read_file', { path: 'app.ini' }) : says('Yes.');
    if (prompt.includes('port'))
      return !isBad && results.length === 0 ? calls('read_file', { path: 'app.ini' }) : '7431';
    if (prompt.includes('JSON')) return `{"city": "${isBad ? 'Sydney' : 'Canberra'}"}`;
    return '12 + 30 is 42.';
  };

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** Starts the server, runs promptfoo with an example, and returns its report. */
async function runPromptfoo(t: TestContext, name: string, isBad = false): Promise<PromptfooReport> {
  const program = await createProgram(t, createScript(isBad));
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'app.ini'), 'port=7431\n');
  const port = await findFreePort();
  const served = program.start(['serve', '--port', '0'], {
    env: {
      HARNESS_API_KEY: key,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      ...(name === 'traces.yaml' ? {} : { OTEL_SDK_DISABLED: 'true' }),
    },
  });
  t.after(() => served.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(served.err()), 30_000);
  const home = path.join(program.cwd, '../promptfoo');
  mkdirSync(home, { recursive: true });
  const config = path.join(home, name);
  const report = path.join(home, 'report.json');
  writeFileSync(config, readFileSync(path.join(folder, name), 'utf8').replace('port: 4318', `port: ${port}`));
  const html = report.replace('.json', '.html');
  const args = [promptfoo ?? '', 'eval', '-c', config, '-o', report, '-o', html, '--no-cache', '--no-table'];
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    PROMPTFOO_CONFIG_DIR: home,
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
    PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
    FAIRLEAD_URL: `${/Listening at (\S+)/.exec(served.err())?.[1]}/v1`,
    FAIRLEAD_KEY: key,
  };
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: home, env, timeout: 120_000 }, (_, out, err) => resolve(`${out}${err}`));
  });
  assert.ok(existsSync(report), output);
  const kept = process.env['FAIRLEAD_TEST_PROMPTFOO_REPORTS'];
  if (kept !== undefined)
    for (const file of [report, html])
      writeFileSync(path.join(kept, `${name}${isBad ? '-bad' : ''}-${path.basename(file)}`), readFileSync(file));
  return JSON.parse(readFileSync(report, 'utf8')) as PromptfooReport;
}

const listFailed = ({ results }: PromptfooReport): readonly string[] =>
  results.results.flatMap(({ testCase, gradingResult, error }) => {
    const failed = (gradingResult?.componentResults ?? []).filter(({ pass }) => !pass);
    const types = failed.map(({ assertion }) => assertion?.type ?? 'unknown');
    return types.length === 0 && gradingResult === undefined
      ? [`${testCase.description}: ${error}`]
      : types.map((type) => `${testCase.description}: ${type}`);
  });

test('[A121] the example configurations of promptfoo are valid and name the endpoint of the server', () => {
  for (const name of ['answers.yaml', 'traces.yaml']) {
    const { tests } = readConfig(name);
    assert.equal(tests.length, 3, name);
    assert.ok(tests.every((each) => each.vars.task.length > 0 && each.assert.length > 0));
    assert.match(readFileSync(path.join(folder, name), 'utf8'), /\{\{env\.FAIRLEAD_URL\}\}/);
  }
  const types = new Set(readConfig('traces.yaml').tests.flatMap((each) => each.assert.map(({ type }) => type)));
  for (const type of ['trajectory:tool-used', 'trajectory:tool-sequence', 'trace-span-count', 'trace-error-spans'])
    assert.ok(types.has(type), type);
  assert.equal(readConfig('traces.yaml').tracing?.otlp.http.port, 4318);
});

test('[A121] promptfoo asserts on answers through the OpenAI endpoint', { skip, timeout: 180_000 }, async (t) => {
  const { results } = await runPromptfoo(t, 'answers.yaml');
  assert.deepEqual(
    { ...results.stats, tokenUsage: 0 },
    { ...results.stats, successes: 3, failures: 0, errors: 0, tokenUsage: 0 },
  );
});

test('[A121] promptfoo asserts on the tool calls of a run by its trace', { skip, timeout: 180_000 }, async (t) => {
  const report = await runPromptfoo(t, 'traces.yaml');
  assert.deepEqual(listFailed(report), []);
  assert.equal(report.results.stats.successes, 3);
});

test(
  '[A121] promptfoo finds a model that guesses and reads what it must not read, by its trace',
  { skip, timeout: 180_000 },
  async (t) => {
    const report = await runPromptfoo(t, 'traces.yaml', true);
    assert.deepEqual(listFailed(report), [
      'reads the port from a file: trajectory:tool-used',
      'reads the port from a file: trajectory:tool-sequence',
      'reads the port from a file: trajectory:tool-args-match',
      'reads the port from a file: trace-span-count',
      'reads no file that it must not read: not-trajectory:tool-used',
    ]);
  },
);
