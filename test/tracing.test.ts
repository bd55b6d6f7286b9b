// Traces of the real program: what a receiver gets of a session with a sub-agent, an MCP server, a denial and a check, live and after the fact.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JsonObject } from '../src/core/index.ts';
import { calls, says, type ScriptedResponse } from '../src/testing/index.ts';
import { bin, createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import {
  missingMock,
  startMockReceiver,
  startReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from './support/otlp-receiver.ts';

const useTool = (tool: string, input: object): ScriptedResponse =>
  calls('use_tool', { tool, input: input as JsonObject });
const runArgs = [
  '--one-shot',
  '--no-sandbox',
  '--auto-approve',
  '--session-name',
  'traced',
  '--prompt',
  'Start an agent for a part, then greet Ann, then write made.txt.',
];
const traceId = '0af7651916cd43dd8448eb211c80319c';
const secret = ['sk-ant-api03', 'Zx8kQ2vLw9Tn4RbYc7HdJ5mPu3We6Xs1'].join('-');

/** A program whose model starts a sub-agent, calls an MCP server, is denied a file, and answers, which is checked. */
async function createTracedProgram(t: TestContext): Promise<TestProgram & { readonly desk: string }> {
  const program = await createProgram(t, ({ body, results }) => {
    if (JSON.stringify(body).includes('another agent has started'))
      return results.length === 0 ? calls('run_command', { command: 'true' }) : says('The part is done.');
    const steps = [
      calls('load_tools', { names: ['spawn_agent'] }),
      useTool('spawn_agent', { task: 'a part' }),
      calls('mcp__clerk__greet', { a: 'Ann' }),
      calls('write_file', { path: 'made.txt', content: 'made by hand' }),
    ];
    return steps[results.length] ?? says('I greeted Ann.');
  });
  await program.seedModels('qwen3');
  const desk = path.join(program.home, 'desk');
  for (const dir of [desk, program.config()]) mkdirSync(dir, { recursive: true });
  const clerk = {
    command: process.execPath,
    args: [path.join(import.meta.dirname, 'support/mcp-stdio-server.ts'), desk],
  };
  writeFileSync(program.config('mcp.json'), JSON.stringify({ mcpServers: { clerk }, outsideSandbox: [program.cwd] }));
  writeFileSync(program.config('policy.yaml'), 'rules:\n  - deny: { tool: write_file }\n');
  return { ...program, desk };
}

const byStart = (a: ReceivedSpan, b: ReceivedSpan): number =>
  a.startTimeUnixNano.localeCompare(b.startTimeUnixNano) || a.spanId.localeCompare(b.spanId);

/** The names of the spans above a span, from the top. */
function pathOf(spans: readonly ReceivedSpan[], span: ReceivedSpan | undefined): string {
  if (!span) return '';
  const above = pathOf(
    spans,
    spans.find(({ spanId }) => spanId === span.parentSpanId),
  );
  return `${above}${above === '' ? '' : ' > '}${span.name}`;
}

async function checkExport(t: TestContext, receiver: OtlpReceiver, protocol: string): Promise<void> {
  const program = await createTracedProgram(t);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VjcmV0LWhlYWRlcg',
    TRACEPARENT: `00-${traceId}-b7ad6b7169203331-01`,
  };
  const { code, out, err } = await program.run(runArgs, { env });
  assert.equal(code, 0, err);
  assert.match(out, /I greeted Ann\./);
  assert.doesNotMatch(err, /Tracing:/, 'nothing was lost');
  const live = receiver.spans().toSorted(byStart);
  const find = (name: string): ReceivedSpan =>
    live.find((span) => span.name === name) ?? assert.fail(`${name}: ${live.map((each) => each.name).join()}`);

  const root = find('invoke_agent fairlead');
  assert.deepEqual([root.traceId, root.parentSpanId], [traceId, 'b7ad6b7169203331'], 'the caller is the parent');
  assert.ok(live.every((span) => span.traceId === traceId));
  assert.equal(root.attributes['fairlead.stop_reason'], 'answered');
  assert.equal(root.attributes['gen_ai.usage.input_tokens'], undefined, 'only model calls have tokens');
  const command = live.find((span) => span.name === 'execute_tool run_command');
  assert.match(
    pathOf(live, command),
    /^invoke_agent fairlead > turn \d > execute_tool spawn_agent > invoke_agent subagent > turn 1 > execute_tool run_command$/,
  );
  const chat = find('chat qwen3');
  assert.equal(chat.kind, 'SPAN_KIND_CLIENT');
  assert.deepEqual(
    [
      chat.attributes['gen_ai.operation.name'],
      chat.attributes['gen_ai.usage.input_tokens'],
      chat.attributes['gen_ai.provider.name'],
    ],
    ['chat', 10, 'ollama'],
  );
  const mcp = find('execute_tool mcp__clerk__greet');
  assert.deepEqual(
    [mcp.attributes['mcp.method.name'], mcp.attributes['gen_ai.tool.type']],
    ['tools/call', 'extension'],
  );
  const gate = live.find(({ name }) => name.startsWith('run_guardrail'));
  assert.deepEqual(
    ['verdict.type', 'action.type', 'component.name', 'target.type'].map(
      (key) => gate?.attributes[`gen_ai.guardrail.${key}`],
    ),
    ['deny', 'block', 'policy', 'tool_call'],
  );
  assert.equal(gate?.attributes['gen_ai.tool.name'], 'write_file');
  assert.equal(
    live.filter(({ name }) => name === 'execute_tool write_file').length,
    0,
    'a denied call was not executed',
  );
  const [result] = find('check all').events;
  assert.equal(result?.name, 'gen_ai.evaluation.result');
  assert.deepEqual(
    [
      result?.attributes['gen_ai.evaluation.name'],
      result?.attributes['gen_ai.evaluation.score.value'],
      result?.attributes['gen_ai.evaluation.score.label'],
    ],
    ['all', 1, 'passed'],
  );
  assert.doesNotMatch(JSON.stringify(live), /a part|Hello Ann|made by hand|I greeted/, 'texts are not exported');

  const [meta = ''] = readFileSync(path.join(program.desk, 'meta'), 'utf8').split('\n');
  assert.equal((JSON.parse(meta) as { traceparent?: string }).traceparent, `00-${traceId}-${mcp.spanId}-01`);
  const chats = live.filter(({ name }) => name === 'chat qwen3').map(({ spanId }) => `00-${traceId}-${spanId}-01`);
  const sent = program.modelRequests().map(({ headers }) => String(headers['traceparent']));
  assert.deepEqual(sent.toSorted(), chats.toSorted(), 'each model request carries its span');

  const before = receiver.spans().length;
  const exported = await program.run(['trace', 'export', 'traced', '--endpoint', receiver.url, '--protocol', protocol]);
  assert.equal(exported.code, 0, exported.err);
  assert.match(exported.err, new RegExp(`${live.length} of ${live.length} spans delivered`));
  assert.deepEqual(
    receiver.spans().slice(before).toSorted(byStart),
    live,
    'the export after the fact is the same, field by field',
  );
  assert.ok(receiver.contentTypes().includes(protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'));
}

for (const protocol of ['http/json', 'http/protobuf']) {
  test(`[A23, A50, A98] spans of a session with a sub-agent, MCP, a denial and a check, as ${protocol}`, async (t) => {
    await checkExport(t, await startReceiver(t), protocol);
  });
  test(
    `[A50] the same spans are decoded by another receiver, with the official definitions, as ${protocol}`,
    { skip: missingMock },
    async (t) => checkExport(t, await startMockReceiver(t), protocol),
  );
}

test('[A50] metrics arrive with the names of the chosen conventions', async (t) => {
  for (const [optIn, expected] of [
    ['', ['gen_ai.client.operation.duration', 'gen_ai.client.token.usage']],
    [
      'gen_ai_latest_experimental',
      [
        'gen_ai.client.inference.duration',
        'gen_ai.client.inference.usage.input_tokens',
        'gen_ai.invoke_agent.duration',
      ],
    ],
  ] as const) {
    const receiver = await startReceiver(t);
    const program = await createProgram(t);
    await program.seedModels('qwen3');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SEMCONV_STABILITY_OPT_IN: optIn };
    assert.equal((await program.call(['-p', 'hello', '--no-sandbox'], { env })).code, 0);
    for (const name of expected)
      assert.ok(receiver.metricNames().includes(name), `${name} in ${receiver.metricNames().join()}`);
    if (optIn !== '') assert.ok(!receiver.metricNames().includes('gen_ai.client.token.usage'));
  }
});

test('[A50] texts are exported only if they are asked for, and without secrets', async (t) => {
  const receiver = await startReceiver(t);
  const program = await createProgram(t, () => says(`The key is ${secret}.`));
  await program.seedModels('qwen3');
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
  await program.call(['-p', 'hello there', '--no-sandbox'], { env });
  const chat = receiver.spans().find(({ name }) => name.startsWith('chat'));
  assert.match(String(chat?.attributes['gen_ai.input.messages']), /hello there/);
  assert.match(String(chat?.attributes['gen_ai.output.messages']), /The key is \[redacted/);
  assert.doesNotMatch(JSON.stringify(receiver.spans()), new RegExp(secret));
});

test('[A50] a receiver that is down fails no run: one warning says what was lost', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const { code, out, err } = await program.call(['-p', 'hello', '--no-sandbox'], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  });
  assert.equal(code, 0);
  assert.match(out, /You said: hello/);
  assert.equal(
    err.match(/Tracing: \d+ of \d+ spans were not delivered to http:\/\/127\.0\.0\.1:1\/v1\/traces: ECONNREFUSED\./g)
      ?.length,
    1,
    err,
  );
});

test('[A50] a receiver that refuses spans and metrics fails no run: one warning says what was lost', async (t) => {
  const server = http.createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(503).end());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const { code, err } = await program.run(['-p', 'hello', '--no-sandbox'], { env });
  assert.equal(code, 0);
  assert.match(err, /Tracing: 3 of 3 spans were not delivered to \S+: status 503\./);
});

test('[A50] an address that is none is told, by a run and by an export', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' };
  const { code, err } = await program.run(['-p', 'hello', '-n', 'mine', '--no-sandbox'], { env });
  assert.equal(code, 0);
  assert.match(err, /Tracing: The address for traces is not a URL such as http:\/\/localhost:4318/);
  const exported = await program.run(['trace', 'export', 'mine', '--endpoint', 'localhost:4318']);
  assert.equal(exported.code, 1);
  assert.match(exported.err, /The address for traces is not a URL/);
});

test('[A50] the result of a tool in a message has the name of the chosen conventions', async (t) => {
  const receiver = await startReceiver(t);
  const program = await createProgram(t, ({ results }) =>
    results.length === 0 ? calls('list_files', { path: '.' }) : says('done'),
  );
  await program.seedModels('qwen3');
  const base = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  };
  for (const optIn of ['', 'gen_ai_latest_experimental'])
    await program.run(['-p', 'go', '--no-sandbox'], { env: { ...base, OTEL_SEMCONV_STABILITY_OPT_IN: optIn } });
  const parts = receiver
    .spans()
    .map(({ attributes }) => String(attributes['gen_ai.input.messages']))
    .filter((text) => text.includes('tool_call_response'));
  assert.equal(parts.length, 2);
  assert.match(parts[0] ?? '', /"type":"tool_call_response","id":"[^"]+","result":/);
  assert.match(parts[1] ?? '', /"type":"tool_call_response","id":"[^"]+","response":/);
});

test('[A50] commands of the model get neither the headers of the receiver nor the context of the caller', async (t) => {
  const program = await createProgram(t, ({ results }) =>
    results.length === 0
      ? calls('run_command', {
          command: 'env | grep -cE "OTEL_EXPORTER_OTLP_HEADERS|TRACE(PARENT|STATE)"; env | grep OTEL_SERVICE_NAME',
        })
      : says(String(results[0])),
  );
  await program.seedModels('qwen3');
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc',
    OTEL_SERVICE_NAME: 'mine',
    OTEL_SDK_DISABLED: 'true',
    TRACEPARENT: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    TRACESTATE: 'a=b',
  };
  const { out } = await program.call(['-p', 'go', '--no-sandbox', '--auto-approve'], { env });
  assert.match(out, /^0\n/m, out);
  assert.match(out, /OTEL_SERVICE_NAME=mine/);
});

test('[A23] the command shows the tree of a session with time, tokens and cost, and the cache ledger', async (t) => {
  const program = await createTracedProgram(t);
  await program.call(runArgs);
  const { code, out } = await program.call(['trace', 'traced']);
  assert.equal(code, 0);
  assert.match(out, /^fairlead \d{4}-\d\d-\d\d [\d:]+ \(answered\) +[\d.]+ (?:ms|s) +\d+ in \d+ out/);
  assert.match(out, /│ ├ model qwen3 +\d+ ms +10 in 5 out/);
  assert.match(out, /tool spawn_agent[^\n]*\n[│ ]+└ subagent \d{4}[^]*tool run_command/);
  assert.match(out, /gate policy: denied write_file/);
  assert.match(out, /check all: passed/);
  const ledger = await program.call(['trace', 'traced', '--cache']);
  assert.match(ledger.out, /^turn +cache +input +read +written +saved +why\n1 +unreported/);
  const file = path.join(program.cwd, 'trace.json');
  assert.equal((await program.call(['trace', 'export', 'traced', '--file', file])).code, 0);
  assert.match(readFileSync(file, 'utf8'), /^\{"resourceSpans":\[/);
  assert.equal((await program.call(['trace', 'no-such-session'])).code, 1);
});

test('[A50, P87] a request to the server is the parent of the run that a worker handles, and of the steps of a plan', async (t) => {
  const receiver = await startReceiver(t);
  const plan = JSON.stringify({ steps: [{ id: 'a', task: 'Look.', after: [] }] });
  const program = await createProgram(t, ({ prompt }) => says(prompt.startsWith('Make a plan') ? plan : 'done'));
  await program.seedModels('qwen3');
  const token = 'a-key-for-this-test-only';
  const env = { HARNESS_API_KEY: token, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
  const served = program.start(['serve', '--port', '0'], { env });
  t.after(() => served.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(served.err()), 30_000);
  const url = /Listening at (\S+)/.exec(served.err())?.[1] ?? '';
  const post = async (route: string, key: string, traceparent: string): Promise<number> => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      traceparent,
    };
    const { status } = await fetch(`${url}${route}`, { method: 'POST', headers, body: '{"prompt":"hi"}' });
    return status;
  };
  const parent = `00-${traceId}-b7ad6b7169203331-01`;
  const other = `00-${'1'.repeat(32)}-b7ad6b7169203331-01`;
  assert.ok((await post('/api/runs', 'one', parent)) < 300);
  assert.ok((await post('/api/runs', 'one', other)) < 300, 'a repeated request may belong to another trace');
  assert.ok((await post('/api/runs', 'bad', 'not a traceparent')) < 300);
  assert.ok((await post('/api/orchestrate', 'two', other)) < 300);
  const runOf = (id: string): ReceivedSpan | undefined =>
    receiver.spans().find(({ attributes }) => attributes['fairlead.run.id'] === id);
  await waitUntil(
    'the runs arrived',
    () => ['one', 'bad', 'two/plan-1', 'two/step-a-1', 'two/answer'].every(runOf),
    30_000,
  );
  assert.deepEqual([runOf('one')?.traceId, runOf('one')?.parentSpanId], [traceId, 'b7ad6b7169203331']);
  assert.equal(runOf('bad')?.parentSpanId, undefined);
  const steps = ['two/plan-1', 'two/step-a-1', 'two/answer'].map((id) => runOf(id));
  assert.deepEqual(
    new Set(steps.map((span) => span?.traceId)),
    new Set(['1'.repeat(32)]),
    'one trace for the whole plan',
  );
  await waitUntil(
    'the plan arrived',
    () => receiver.spans().some(({ name }) => name === 'invoke_workflow plan'),
    20_000,
  );
  const step = receiver.spans().find(({ name }) => name === 'plan step a');
  assert.equal(runOf('two/step-a-1')?.parentSpanId, step?.spanId);
  const workflow = receiver.spans().find(({ spanId }) => spanId === step?.parentSpanId);
  assert.deepEqual(
    [workflow?.name, workflow?.parentSpanId, workflow?.traceId],
    ['invoke_workflow plan', 'b7ad6b7169203331', '1'.repeat(32)],
  );
  assert.notEqual(
    runOf('two/step-a-1')?.parentSpanId,
    runOf('two/plan-1')?.parentSpanId,
    'the run of a step is below the step',
  );
  const answer = await fetch(`${url}/api/sessions/one/cache`, { headers: { authorization: `Bearer ${token}` } });
  const { turns } = (await answer.json()) as {
    readonly turns: readonly { readonly turn: number; readonly result: string }[];
  };
  assert.deepEqual(
    turns.map(({ turn, result }) => [turn, result]),
    [[1, 'unreported']],
  );
  assert.equal((await fetch(`${url}/api/sessions/one/cache`)).status, 401);
  served.kill('SIGTERM');
  await served.ended;
});

test('[A50] the context in the metadata of an MCP client becomes the parent of the run, and the log keeps it', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const parent = `00-${traceId}-b7ad6b7169203331-01`;
  const messages = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
    { method: 'notifications/initialized' },
    {
      id: 2,
      method: 'tools/call',
      params: { name: 'run_agent', arguments: { prompt: 'hello' }, _meta: { traceparent: parent, tracestate: 'a=1' } },
    },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const { cwd, env } = program;
  const server = spawn(process.execPath, [bin, 'mcp', '--no-sandbox'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  t.after(() => server.kill('SIGKILL'));
  let out = '';
  server.stdout.on('data', (piece: Buffer) => (out += String(piece)));
  server.stdin.write(input);
  await waitUntil('the call is answered', () => out.includes('"id":2'), 20_000);
  assert.match(out, /You said: hello/);
  const [name = ''] = program.sessions();
  assert.match(
    program.session(name),
    new RegExp(`"type":"run-started"[^\\n]*"trace":\\{"traceparent":"${parent}","tracestate":"a=1"\\}`),
  );
});
