// Malformed bytes at every listener of the real program end their own connection: the process answers the next request.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test, { type TestContext } from 'node:test';
import { bin, createProgram, waitUntil, type TestProgram, type RunningProgram } from './support/cli-harness.ts';
import { malformedLines, malformedRequests, resetRequests, sendBytes } from './support/malformed-requests.ts';

const key = 'a-key-of-sixteen-or-more';

/** Starts a server, and returns the ports that it prints. */
async function startListening(
  t: TestContext,
  program: TestProgram,
  args: readonly string[],
  count: number,
): Promise<{ readonly process: RunningProgram; readonly ports: readonly number[] }> {
  const process = program.start(args, { env: { HARNESS_API_KEY: key, FAIRLEAD_MCP_TOKEN: key } });
  t.after(() => process.kill('SIGKILL'));
  const find = (): readonly number[] =>
    [...process.err().matchAll(/ at http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
  await waitUntil('it listens', () => find().length >= count, 30_000);
  return { process, ports: find().slice(0, count) };
}

/** Sends all malformed requests to a port; a valid request must be answered with this status afterwards. */
async function assertAnswers(port: number, target: string, valid: string, status: number): Promise<void> {
  const header = `Authorization: Bearer ${key}\r\nAccept: application/json, text/event-stream\r\n`;
  await Promise.all(resetRequests(target, header).map((request) => sendBytes(port, request, true)));
  await Promise.all(malformedRequests(target, header).map((request) => sendBytes(port, request)));
  const reply = await sendBytes(port, `GET ${valid} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}\r\n`);
  assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} `));
}

test('the server and its control thread survive malformed requests', { timeout: 120_000 }, async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const { process, ports } = await startListening(t, program, ['serve', '--port', '0'], 2);
  const [port = 0, controlPort = 0] = ports;
  for (const target of ['/api/runs', '/api/stream?session=x', '/v1/chat/completions'])
    await assertAnswers(port, target, '/api/runs', 200);
  await assertAnswers(controlPort, '/api/kill-switch', '/api/kill-switch', 200);
  assert.doesNotMatch(process.err(), /control thread failed/);
  process.kill('SIGTERM');
  assert.equal((await process.ended).code, 143);
});

test('the proxy survives malformed requests', { timeout: 120_000 }, async (t) => {
  const program = await createProgram(t);
  const args = ['proxy', '--target', program.server.url, '--port', '0', '--memory'];
  const { process, ports } = await startListening(t, program, args, 1);
  await assertAnswers(ports[0] ?? 0, '/v1/chat/completions', '/v1/models', 200);
  process.kill('SIGTERM');
  assert.equal((await process.ended).code, 143);
});

test('the MCP server on HTTP survives malformed requests', { timeout: 120_000 }, async (t) => {
  const program = await createProgram(t);
  const { process, ports } = await startListening(t, program, ['mcp', 'serve', '--http', '0'], 1);
  await assertAnswers(ports[0] ?? 0, '/mcp', '/x', 404);
  process.kill('SIGTERM');
  assert.equal((await process.ended).code, 143);
});

/** Writes malformed lines to the standard input of a command, then a valid message, and waits for its reply. */
async function assertStdioAnswers(t: TestContext, args: readonly string[], params: unknown): Promise<void> {
  const program = await createProgram(t);
  const child = spawn(process.execPath, [bin, ...args], { cwd: program.cwd, env: program.env });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => {});
  for (const line of malformedLines) child.stdin.write(`${line}\n`, 'latin1');
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 4711, method: 'initialize', params })}\n`);
  const isAnswered = (): boolean => /"id":4711,"result"|"result":.*"id":4711/.test(out);
  await waitUntil('it answers', () => isAnswered() || child.exitCode !== null, 60_000);
  assert.ok(isAnswered(), `${child.exitCode}: ${out.slice(0, 2000)}\n${err.slice(0, 2000)}`);
  for (const line of out.split('\n').slice(0, -1)) JSON.parse(line);
  child.stdin.end();
  await new Promise((resolve) => void child.once('close', resolve));
  assert.equal(child.exitCode, 0, err);
}

test('the editor protocol survives malformed lines', { timeout: 120_000 }, (t) =>
  assertStdioAnswers(t, ['acp'], { protocolVersion: 1, clientCapabilities: {} }),
);

test('the MCP server on standard input survives malformed lines', { timeout: 120_000 }, (t) =>
  assertStdioAnswers(t, ['mcp', 'serve'], {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '0' },
  }),
);
