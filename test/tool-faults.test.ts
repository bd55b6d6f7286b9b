// Faults 30 to 39: failures of tools, with a real server, the real loop, and real tools on real files and processes.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { agentTool, createToolRegistry } from '../src/agent/index.ts';
import { toArray, type Fact, type Json, type JsonObject, type Tool, type ToolContext } from '../src/core/index.ts';
import { calls, fails, joinResponses, says, type ScriptStep, type Script } from '../src/testing/index.ts';
import { codingTools } from '../src/tools/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { isProcessAlive, createProgram, waitUntil } from './support/cli-harness.ts';
import { createGatewayFixture, type GatewayFixture, type GatewayFixtureOptions } from './support/gateway-fixture.ts';

type ToolEndedFact = Fact & { readonly type: 'tool-ended' };
type ToolFixture = GatewayFixture & { readonly root: string; readonly file: (name: string) => string };

/** Creates a fixture with the real tools on a temporary folder, and these. */
async function createToolFixture(
  t: test.TestContext,
  script: Script<JsonObject>,
  more: readonly Tool[] = [],
  options: GatewayFixtureOptions = {},
): Promise<ToolFixture> {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-tool-faults-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const root = realpathSync(mkdtempSync(path.join(home, 'work-')));
  const workspace = localWorkspace({ roots: [root], blobs: path.join(home, 'blobs'), outputs: path.join(home, 'out') });
  const tools = createToolRegistry([...codingTools(workspace), ...more]);
  const on = await createGatewayFixture(t, script, { ...options, agent: { tools, ...options.agent } });
  return { ...on, root, file: (name) => path.join(root, name) };
}

const getToolEnds = (on: GatewayFixture): readonly ToolEndedFact[] =>
  on.log.events.flatMap((event) => (event.type === 'tool-ended' ? [event] : []));
const getOutcomes = (on: GatewayFixture): readonly string[] => getToolEnds(on).map(({ outcome }) => outcome);

const createFaultyTool = (
  name: string,
  effect: Tool['effect'],
  run: (input: Json, context: ToolContext) => unknown,
): Tool => ({
  name,
  description: 'A test.',
  input: { type: 'object' },
  effect,
  execute: run,
});
const forever = (): Promise<never> => new Promise(() => {});
const longTimeout = { timeout: 60_000 };

test(
  'fault 30: killed between a side effect and its result, the program does not repeat it and reports an unknown outcome',
  longTimeout,
  async (t) => {
    const program = await createProgram(t, ({ results }) =>
      results.length === 0
        ? calls('run_command', { command: 'echo sent >> ledger; kill -9 $PPID; sleep 60' })
        : says('I shall look first.'),
    );
    await program.seedModels('qwen3');
    const args = ['--auto-approve', '--no-sandbox'];
    const first = await program.run(['-p', 'send it', '-n', 'cut', ...args]);
    assert.equal(first.code, null, 'it was killed');
    const { code, out, err } = await program.run(['-p', 'go on', '-r', 'cut', ...args]);
    assert.deepEqual([code, out.trim()], [0, 'I shall look first.'], err);
    assert.equal(readFileSync(path.join(program.cwd, 'ledger'), 'utf8'), 'sent\n');
    assert.match(
      program.session('cut'),
      /"outcome":"unknown"[^\n]*may or may not have happened\. It was not run again\./,
    );
  },
);

test(
  'fault 31: a command that hangs, ignores SIGTERM and leaves children is ended with all of them at its timeout',
  longTimeout,
  async (t) => {
    const command = `trap '' TERM; sleep 600 & echo $! > child; (trap '' TERM; sleep 600) & echo $! >> child; wait; sleep 600`;
    const on = await createToolFixture(t, [calls('run_command', { command, timeout_s: 1 }), says('Ended.')]);
    assert.equal((await on.run('go')).ended?.reason, 'answered');
    assert.match(getToolEnds(on)[0]?.text ?? '', /^\[Stopped after 1 s; set timeout_s if it needs longer\.\]$/);
    assert.deepEqual(getOutcomes(on), ['failed']);
    for (const pid of readFileSync(on.file('child'), 'utf8').trim().split('\n').map(Number))
      await waitUntil(`${pid} is gone`, () => !isProcessAlive(pid));
    await on.assertInvariants();
  },
);

test(
  'fault 32: very long output, binary output, one endless line and 1 GB are truncated in the middle, saved to a file, and the exact size is reported',
  { timeout: 180_000 },
  async (t) => {
    const floods = [
      ['seq 1 300000; echo the end', 1_988_903],
      // No byte here begins a terminal control sequence: one before "the end" would take its first letter.
      ["head -c 3000000 /dev/urandom | tr '\\033\\302' xx; echo the end", 3_000_008],
      ['head -c 3000000 /dev/zero | tr "\\0" x; printf "the end"', 3_000_007],
      ['yes | head -c 1073741824; echo the end', 1_073_741_832],
    ] as const;
    const on = await createToolFixture(t, [
      joinResponses(floods.map(([command]) => calls('run_command', { command }))),
      says('Seen.'),
    ]);
    assert.equal((await on.run('go')).ended?.reason, 'answered');
    for (const [i, [, bytes]] of floods.entries()) {
      const { text = '' } = getToolEnds(on)[i] ?? {};
      assert.ok(text.length < 31_000, `${text.length} characters`);
      assert.match(text, /left out …\]\n[^]*the end\n\[[^\n]*\]$/);
      const [, told, file = ''] = /It wrote (\d+) bytes; [^:]* (?:is|are) in (\S+): use read_file/.exec(text) ?? [];
      assert.equal(Number(told), bytes);
      // Escaping makes output that is not text longer.
      assert.ok(statSync(file).size >= Math.min(bytes, 2 ** 25) && statSync(file).size <= 2 ** 25);
    }
    await on.assertInvariants();
  },
);

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;
test('fault 33: a tool that throws, rejects, or returns nothing, a cycle, a BigInt or too much data: one valid result each', async (t) => {
  const odd: readonly (readonly [string, () => unknown])[] = [
    [
      'throws',
      () => {
        throw new Error('thrown');
      },
    ],
    ['rejects', () => Promise.reject(new Error('rejected'))],
    ['nothing', () => undefined],
    ['circle', () => cyclic],
    ['bigint', () => ({ n: 5n })],
    ['huge', () => 'x'.repeat(5_000_000)],
  ];
  const tools = odd.map(([name, run]) => createFaultyTool(name, 'read', run));
  const on = await createToolFixture(
    t,
    [joinResponses(odd.map(([name]) => calls(name, {}))), says('All back.')],
    tools,
  );
  assert.equal((await on.run('go')).ended?.reason, 'answered');
  assert.deepEqual(getOutcomes(on), ['failed', 'failed', 'ok', 'ok', 'ok', 'ok']);
  assert.ok((getToolEnds(on)[5]?.text.length ?? 0) < 101_000);
  await on.assertInvariants();
});

test(
  'fault 34: of parallel calls one fails, one hangs, one reports progress after its end, and they end out of order: each gets one result, in order',
  longTimeout,
  async (t) => {
    const order: string[] = [];
    const { promise: fast, resolve } = Promise.withResolvers<void>();
    const tools = [
      createFaultyTool('slow', 'read', async () => {
        await fast;
        order.push('slow');
        return 'slow';
      }),
      createFaultyTool('bad', 'read', () => Promise.reject(new Error('broken'))),
      { ...createFaultyTool('deaf', 'read', forever), timeoutMs: 20 },
      createFaultyTool('twice', 'read', (_input, { progress }) => {
        order.push('twice');
        setTimeout(() => progress?.('once more'), 5);
        resolve();
        return 'first';
      }),
    ];
    const on = await createToolFixture(
      t,
      [joinResponses(tools.map(({ name }) => calls(name, {}))), says('All back.')],
      tools,
    );
    assert.equal((await on.run('go')).ended?.reason, 'answered');
    assert.deepEqual(order, ['twice', 'slow']);
    assert.deepEqual(
      getToolEnds(on).map(({ text }) => text),
      ['slow', 'Error: broken', 'deaf did not end within 20 ms.', 'first'],
    );
    await on.assertInvariants();
  },
);

test('fault 35: missing, duplicate, too long or reused call ids become unique', async (t) => {
  const round = joinResponses(
    ['', 'same', 'same', 'x'.repeat(500)].map((id) => ({ calls: [{ tool: 'look', input: {}, id }] })),
  );
  const on = await createToolFixture(
    t,
    [round, round, says('Done.')],
    [createFaultyTool('look', 'read', () => 'seen')],
  );
  assert.equal((await on.run('go')).ended?.reason, 'answered');
  const ids = getToolEnds(on).map(({ call }) => call);
  assert.deepEqual([ids.length, new Set(ids).size], [8, 8]);
  await on.assertInvariants();
});

test(
  'fault 36: a user who aborts three running calls leaves three results and a valid request',
  longTimeout,
  async (t) => {
    const stop = new AbortController();
    let begun = 0;
    const look = createFaultyTool('look', 'read', (_input, { signal }) => {
      if (++begun === 3) stop.abort();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    });
    const on = await createToolFixture(
      t,
      [joinResponses(['1', '2', '3'].map((n) => calls('look', { n }))), says('Here again.')],
      [look],
    );
    assert.equal((await on.run('go', { signal: stop.signal })).ended?.reason, 'cancelled');
    assert.deepEqual(getOutcomes(on), ['interrupted', 'interrupted', 'interrupted']);
    assert.equal((await on.run('and now?')).ended?.reason, 'answered');
    await on.assertInvariants();
  },
);

test(
  'fault 37: an approval that was still open when the program ended is asked for again, not assumed',
  longTimeout,
  async (t) => {
    const program = await createProgram(t, ({ results }) =>
      results.length ? says('Done.') : calls('run_command', { command: 'touch ran' }),
    );
    await program.seedModels('qwen3');
    for (const args of [
      ['-p', 'go', '-n', 'open'],
      ['-p', 'go on', '-r', 'open'],
    ]) {
      const { code, err } = await program.run([...args, '--no-sandbox']);
      assert.equal(code, 5, err);
      assert.ok(!existsSync(path.join(program.cwd, 'ran')));
    }
    assert.doesNotMatch(program.session('open'), /"type":"tool-started"/);
  },
);

test('fault 38: a file that the user changed between read and edit is not changed, and can be read again and edited', async (t) => {
  const edit = (from: string): ScriptStep =>
    calls('edit_file', { path: 'a.txt', old_string: from, new_string: 'mine' });
  const on = await createToolFixture(t, ({ results }) => {
    if (results.length === 1) writeFileSync(on.file('a.txt'), 'first\ntheirs\n');
    const read = calls('read_file', { path: 'a.txt' });
    return [read, edit('first'), read, edit('first\ntheirs')][results.length] ?? says('Done.');
  });
  writeFileSync(on.file('a.txt'), 'first\n');
  assert.equal((await on.run('go')).ended?.reason, 'answered');
  assert.deepEqual(getOutcomes(on), ['ok', 'failed', 'ok', 'ok']);
  assert.match(getToolEnds(on)[1]?.text ?? '', /changed since it was read; read it again/);
  assert.equal(readFileSync(on.file('a.txt'), 'utf8'), 'mine\n');
  await on.assertInvariants();
});

for (const [what, child, limits, why, spent] of [
  ['dies', () => fails('unauthorized'), {}, /provider-error/, 0],
  ['loops', () => calls('look', {}), { turns: 3 }, /max-turns/, 3],
  ['repeats a cycle of calls', () => calls('look', {}), { stuckAfter: 2 }, /stuck/, 2],
  ['uses up the limits of its parent', (n: number) => calls('look', { n }), {}, /max-turns/, 9],
] as const)
  test(`fault 39: a sub-agent that ${what} is an error for its parent, which continues within its own limits`, async (t) => {
    let looked = 0;
    const task = 'the child’s own task';
    const helper = agentTool({ name: 'helper', description: 'Helps.', tools: ['look'], limits });
    const isChild = (body: JsonObject): boolean => !JSON.stringify(body).includes('"helper"');
    const on = await createToolFixture(
      t,
      ({ body, results }) => {
        if (isChild(body)) return child(results.length);
        return results.length === 0 ? calls('helper', { task }) : says('I went on.');
      },
      [helper, createFaultyTool('look', 'read', () => (looked++, 'the same'))],
      { limits: { turns: 10 } },
    );
    const state = await on.run('go');
    assert.deepEqual(getOutcomes(on), ['failed']);
    assert.match(getToolEnds(on)[0]?.text ?? '', why);
    assert.equal(looked, spent);
    assert.ok(state.spent.turns <= 10, `${state.spent.turns} turns`);
    assert.equal(state.ended?.reason, what.startsWith('uses') ? 'max-turns' : 'answered');
    assert.equal(
      toArray(state.messages).some((message) => JSON.stringify(message).includes('I went on.')),
      !what.startsWith('uses'),
    );
    await on.assertInvariants();
  });
