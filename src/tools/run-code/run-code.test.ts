// Programs of a model: what they can compute and access, when they end, and that each of their calls passes the gates.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assertAttack } from '../../../test/support/attack-report.ts';
import test, { type TestContext } from 'node:test';
import { replyWithCalls, replyWithText, createCoreFixture } from '../../../test/support/core-fixture.ts';
import { createToolRegistry } from '../../agent/index.ts';
import type { Event, Gate, Json, Tool } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { codingTools } from '../index.ts';
import { runCode } from './run-code.ts';

type Ended = Event & { readonly type: 'tool-ended' };

/** Runs one program as a model would, with the tools of the workspace. */
async function runProgram(
  t: TestContext,
  code: string,
  more: { gates?: readonly Gate[]; tools?: readonly Tool[]; input?: Json } = {},
): Promise<Ended & { readonly calls: number }> {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-code-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'a.txt'), 'one\ntwo\n');
  writeFileSync(path.join(root, 'b.txt'), 'three\n');
  const tools = createToolRegistry([...codingTools(localWorkspace({ roots: [root] })), runCode, ...(more.tools ?? [])]);
  const input = { code, ...(more.input as object) };
  const fixture = await createCoreFixture({
    replies: [replyWithCalls(['run_code', input]), replyWithText('done')],
    tools: [...tools.values()],
    gates: [...(more.gates ?? [])],
  });
  await fixture.run();
  const [ended] = fixture.eventsOfType('tool-ended');
  assert.ok(ended);
  return { ...ended, calls: fixture.head.state.spent.calls };
}

test('[A15] a program computes, prints and returns; its error is reported with its line', async (t) => {
  const done = await runProgram(
    t,
    'console.log("sum", [1, 2].map((x) => x * 2), {a: 1n === 1n}); return { ok: true };',
  );
  assert.deepEqual([done.outcome, done.text], ['ok', 'sum [2,4] {"a":true}\n=> {"ok":true}']);
  assert.equal((await runProgram(t, 'const a = 1;')).text, '(It printed nothing and returned nothing.)');
  const broken = await runProgram(t, 'console.log("first");\nnull.x;');
  assert.equal(broken.outcome, 'failed');
  assert.match(broken.text, /^first\nTypeError: .*\n.*code\.js:3/);
  assert.match((await runProgram(t, 'return )')).text, /^SyntaxError/);
});

test('[A15] read tools are functions that return text and data, and each call is recorded and charged', async (t) => {
  const code = `const files = ['a.txt', 'b.txt'];
    const read = await Promise.all(files.map((path) => tools.read_file({ path })));
    try { await tools.read_file({ path: 'none' }); } catch (error) { console.log(error.message); }
    return [read.map((each) => each.text), read[0].data.lines, Object.keys(tools)];`;
  const done = await runProgram(t, code);
  assert.equal(done.outcome, 'ok', done.text);
  assert.match(
    done.text,
    /^There is no file or folder .*none\.\n=> \[\["one\\ntwo","three"\],2,\["read_file","list_files","glob","grep"\]\]$/,
  );
  assert.deepEqual((done.data as { calls: readonly Json[] }).calls[0], { tool: 'read_file', input: { path: 'a.txt' } });
  assert.equal(done.calls, 4, 'the program and its three calls');
});

test('[A15] every call of a program passes the gates of the run, and a call that needs approval is refused', async (t) => {
  const seen: string[] = [];
  const gate: Gate = ({ tool, input }) => {
    seen.push(tool);
    const { path: place } = input as { path?: string };
    if (place === 'a.txt') return { type: 'deny', reason: 'Not a.txt.' };
    if (place === 'b.txt') return { type: 'ask', question: 'Read b.txt?' };
    if (place === 'c.txt') return { type: 'rewrite', input: { path: 7 } };
    return { type: 'allow' };
  };
  const code = `const said = [];
    for (const path of ['a.txt', 'b.txt', 'c.txt']) await tools.read_file({ path }).catch((error) => said.push(error.message));
    await tools.grep({ path: '.' }).catch((error) => said.push(error.message));
    return said;`;
  const { text } = await runProgram(t, code, { gates: [gate] });
  const [denied, asked, rewritten, unfit] = JSON.parse(text.slice(3)) as string[];
  assert.equal(denied, 'Not a.txt.');
  assert.match(asked ?? '', /needs the approval of the user first \(Read b\.txt\?\)/);
  assert.match(rewritten ?? '', /do not match the schema/);
  assert.match(unfit ?? '', /do not match the schema of grep/);
  assert.deepEqual(
    seen,
    ['run_code', 'read_file', 'read_file', 'read_file', 'read_file'],
    'a rewritten call passes the gates again',
  );
});

test('[A15] law of authority: tools that write, deferred tools and the tool itself are not available', async (t) => {
  const secret: Tool = {
    name: 'secret',
    description: 'Hidden.',
    input: { type: 'object' },
    effect: 'read',
    deferred: true,
    execute: () => 'told',
  };
  const code =
    'return [typeof tools.write_file, typeof tools.run_command, typeof tools.secret, typeof tools.run_code, typeof tools.load_tools];';
  assert.equal(
    (await runProgram(t, code, { tools: [secret] })).text,
    '=> ["undefined","undefined","undefined","undefined","undefined"]',
  );
});

test('[A15] attack 86: a program has no access to the machine, or to the objects behind its functions', async (t) => {
  const code = `const names = ['process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'Worker', 'navigator', 'Deno', '__call', '__print', 'std', 'os', 'print'];
    const found = names.filter((name) => name in globalThis);
    const host = (() => { try { return Function('return typeof process')(); } catch (error) { return error.name; } })();
    const up = (() => { try { return tools.read_file.constructor.constructor('return typeof process')(); } catch (error) { return error.name; } })();
    const loaded = await import('node:fs').catch((error) => error.name);
    return [found, host, up, typeof loaded];`;
  assert.equal((await runProgram(t, code)).text, '=> [[],"undefined","undefined","string"]');
});

test('[A15] attacks 17, 81: a program that never ends, exhausts memory or deadlocks is ended, and the run continues', async (t) => {
  const input = { timeout_s: 1 };
  const endless = [
    'for (;;);',
    'await null; for (;;);',
    'await tools.list_files({}); for (;;);',
    '/^(a+)+$/.test("a".repeat(40) + "b")',
  ].map((code) => runProgram(t, code, { input }));
  for (const { text } of await Promise.all(endless)) assert.match(text, /did not finish within 1 s/);
  let stopped = false;
  const slow: Tool = {
    name: 'slow',
    description: 'Never ends.',
    input: { type: 'object' },
    effect: 'read',
    execute: (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (stopped = true))),
  };
  assert.match((await runProgram(t, 'await tools.slow()', { input, tools: [slow] })).text, /did not finish within 1 s/);
  assert.equal(stopped, true, 'a pending call ends with the program');
  assert.match((await runProgram(t, 'const a = []; for (;;) a.push(new ArrayBuffer(1e7))')).text, /out of memory/);
  assert.match((await runProgram(t, 'const f = () => f(); f()')).text, /stack/i);
  assert.match((await runProgram(t, 'await new Promise(() => {})')).text, /something that never happens/);
  assert.match(
    (await runProgram(t, 'await tools.list_files({}); await new Promise(() => {})')).text,
    /something that never happens/,
  );
  const loud = await runProgram(
    t,
    'for (let i = 0; i < 1e4; i++) console.log("x".repeat(100)); return "y".repeat(1e6)',
  );
  assert.ok(loud.text.length < 45_000);
  const many = await runProgram(t, 'for (let i = 0; i < 300; i++) await tools.list_files({})');
  assert.match(many.text, /may make at most 200 calls/);
});

test('[attack 138] the input of a call in a program is bounded, so that the session is too', async (t) => {
  const code = `const found = [];
    for (let i = 0; i < 3; i++) await tools.read_file({ path: 'a'.repeat(200_000) }).catch((error) => found.push(error.message));
    return found.length + found[0];`;
  const { text, data } = await runProgram(t, code);
  assert.match(text, /3The input of a call may have at most 100000 characters/);
  assert.ok(JSON.stringify(data).length < 10_000);
  assertAttack(t, 138, ['contained']);
});
