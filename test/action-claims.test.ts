// What an answer says was done is compared with the log: a false claim is sent back once, then shown as not confirmed, in every mode.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { Agent, fileSession, type RunResult } from '../src/agent/index.ts';
import { actionClaims } from '../src/checks/index.ts';
import { codingAgent, type CodingAgentOptions } from '../src/coding-agent/index.ts';
import type { Event, JsonObject } from '../src/core/index.ts';
import { calls, says, scriptedProvider, type ScriptStep } from '../src/testing/index.ts';
import { createProgram, waitUntil } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

type Fixture = { readonly cwd: string; readonly options: CodingAgentOptions };

function createFixture(t: TestContext): Fixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-claims-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const cwd = path.join(root, 'project');
  mkdirSync(cwd);
  const options = {
    cwd,
    stateDir: path.join(root, 'state'),
    configDir: path.join(root, 'config'),
    approve: 'auto',
    sandbox: 'none',
  } as const;
  return { cwd, options };
}

type Outcome = { readonly result: RunResult; readonly events: readonly Event[]; readonly requests: readonly string[] };

async function runScript(
  { options }: Fixture,
  script: readonly ScriptStep[],
  more: Partial<CodingAgentOptions> = {},
): Promise<Outcome> {
  const provider = scriptedProvider(script);
  await using agent = await codingAgent({ ...options, ...more, model: provider });
  await using session = await agent.session();
  const events: Event[] = [];
  session.subscribe((event) => void events.push(event));
  const result = await session.run('Do it.');
  return { result, events, requests: provider.requests.map((request) => JSON.stringify(request)) };
}

const verdicts = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'check-ended' ? [`${event.check} ${event.verdict.type}`] : []));

const runTest = calls('run_command', { command: 'node a.test.js' });
const writeTest = (text: string): ScriptStep => calls('write_file', { path: 'a.test.js', content: text });
const failing = 'process.exit(1);\n';

test('[A2, A25] a claim that the log contradicts is sent back once with the evidence, and what the model then corrects passes', async (t) => {
  const { result, events, requests } = await runScript(createFixture(t), [
    writeTest(failing),
    runTest,
    says('I created a.test.js, and all tests pass.'),
    says('I created a.test.js. The test fails.'),
  ]);
  assert.deepEqual([result.text, result.unconfirmedClaims], ['I created a.test.js. The test fails.', []]);
  assert.deepEqual(verdicts(events), ['actions failed', 'all passed']);
  assert.match(
    requests[3] ?? '',
    /check\/actions[^]*all tests pass[^]*node a.test.js ended with exit code 1 \(event \d+\)/,
  );
});

test('[A2, A26] a claim that the second answer repeats is recorded and shown as not confirmed; the run ends normally', async (t) => {
  const { result, events } = await runScript(createFixture(t), [
    says('I ran `npm test` and it passed.'),
    says('All tests pass.'),
  ]);
  assert.deepEqual([result.status, result.text], ['success', 'All tests pass.']);
  assert.deepEqual(
    result.unconfirmedClaims.map(({ text, why }) => [text, why]),
    [['All tests pass.', 'The log has no run of a test command.']],
  );
  assert.deepEqual(verdicts(events), ['actions failed', 'actions passed', 'all passed']);
});

test('a test run before the last change does not confirm that tests pass; a run after it does', async (t) => {
  const passing = 'process.exit(0);\n';
  const early = await runScript(createFixture(t), [
    writeTest(passing),
    runTest,
    calls('write_file', { path: 'b.js', content: 'export const b = 1;\n' }),
    says('All tests pass.'),
    runTest,
    says('All tests pass.'),
  ]);
  assert.deepEqual(verdicts(early.events), ['actions failed', 'all passed']);
  assert.match(
    early.requests[4] ?? '',
    /node a\.test\.js ran \(event \d+\) before [^"]*b\.js was changed \(event \d+\), and not again after that/,
  );
  assert.deepEqual(early.result.unconfirmedClaims, []);
});

test('answers without claims cost no event, and true claims pass at once', async (t) => {
  const plain = await runScript(createFixture(t), [says('The file holds three functions.')]);
  assert.deepEqual(verdicts(plain.events), []);
  const { cwd, options } = createFixture(t);
  const script = [
    calls('write_file', { path: 'src/config.ts', content: 'export const port = 3000;\n' }),
    says('I created `src/config.ts`; it now contains `port = 3000`.'),
  ];
  assert.deepEqual(verdicts((await runScript({ cwd, options }, script)).events), ['all passed']);
});

test('an answer at the last turn of a run is never lost: it is not sent back, but its claim is shown', async (t) => {
  const { result, events } = await runScript(createFixture(t), [says('I deleted old.ts.')], { limits: { turns: 1 } });
  assert.deepEqual([result.status, result.unconfirmedClaims.length], ['success', 1]);
  assert.deepEqual(verdicts(events), ['actions passed', 'all passed']);
});

test('what a sub-agent or a custom tool did is not contradicted, and a sub-agent is checked itself', async (t) => {
  const { events } = await runScript(createFixture(t), [
    calls('load_tools', { names: ['spawn_agent'] }),
    calls('use_tool', { tool: 'spawn_agent', input: { task: 'Write config.ts and run the tests.' } }),
    says('I created config.ts.'),
    says('Nothing was created.'),
    says('I created config.ts, and all tests pass.'),
  ]);
  assert.deepEqual(verdicts(events), ['all passed'], 'the answer of the parent passes');
  assert.match(
    JSON.stringify(events.findLast((event) => event.type === 'tool-ended')),
    /Nothing was created/,
    'that of the sub-agent was sent back',
  );
});

test('only the user switches it off: a project cannot', async (t) => {
  const fixture = createFixture(t);
  mkdirSync(path.join(fixture.cwd, '.fairlead'));
  writeFileSync(path.join(fixture.cwd, '.fairlead/config.json'), JSON.stringify({ verify: { actions: false } }));
  const script = [says('All tests pass.'), says('All tests pass.')];
  assert.equal((await runScript(fixture, script)).result.unconfirmedClaims.length, 1);
  mkdirSync(String(fixture.options.configDir));
  writeFileSync(
    path.join(String(fixture.options.configDir), 'config.json'),
    JSON.stringify({ verify: { actions: false } }),
  );
  const off = await runScript(fixture, [says('All tests pass.')]);
  assert.deepEqual([off.result.unconfirmedClaims, verdicts(off.events)], [[], []]);
});

const noop = {
  name: 'noop',
  description: 'Nothing.',
  input: { type: 'object' },
  effect: 'read',
  execute: () => 'ok',
} as const;

test('a program adds it to an agent with one option', async () => {
  const agent = new Agent({
    model: scriptedProvider([says('I deleted a.ts.'), says('I deleted a.ts.')]),
    tools: [noop],
    checks: [actionClaims()],
  });
  const result = await agent.run('Delete it.');
  assert.deepEqual(
    result.unconfirmedClaims.map(({ why }) => why),
    ['The log has no change of a.ts.'],
  );
});

test('a claim that is not confirmed is recorded although a later check abstains', async () => {
  const agent = new Agent({
    model: scriptedProvider([says('I created report.txt.'), says('I created report.txt.')]),
    tools: [noop],
    checks: [actionClaims(), { name: 'later', run: () => ({ type: 'abstained', why: 'No evidence.' }) }],
  });
  const result = await agent.run('Write the report.');
  assert.deepEqual([result.reason, result.unconfirmedClaims.length], ['abstained', 1]);
});

test('a run that ends between the verdict and the next turn does not send the answer back again when it is resumed', async (t) => {
  const { cwd } = createFixture(t);
  const file = path.join(cwd, 's.jsonl');
  const open = (script: readonly ScriptStep[]): Agent =>
    new Agent({ model: scriptedProvider(script), tools: [noop], checks: [actionClaims()] });
  {
    await using session = await open([says('I deleted a.ts.'), says('Never read.')]).session({
      store: fileSession(file),
    });
    await session.run('Delete it.');
  }
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const end = lines.findIndex((line) => line.includes('"check-ended"'));
  assert.match(lines[end] ?? '', /"failed"/);
  writeFileSync(file, `${lines.slice(0, end + 1).join('\n')}\n`);
  await using session = await open([says('I deleted a.ts.')]).session({ store: fileSession(file) });
  const events: Event[] = [];
  session.subscribe((event) => void events.push(event));
  const result = await session.resume();
  assert.deepEqual(verdicts(events), ['actions passed', 'all passed']);
  assert.equal(result.unconfirmed?.length, 1);
});

test('kill -9 between the failed verdict and the next turn: the resumed run does not send the answer back a second time', async (t) => {
  const program = await createProgram(t, ({ index }) =>
    index === 0 ? says('I deleted old.ts.') : says('', { hang: true }),
  );
  await program.seedModels('qwen3');
  const running = program.start(['-p', 'do it', '--no-sandbox', '-n', 'killed']);
  await waitUntil('the second request', () => program.modelRequests().length === 2, 20_000);
  running.kill('SIGKILL');
  await running.ended;
  assert.match(program.session('killed'), /"check-ended"[^\n]*"failed"/);
  program.server.setScript(() => says('I deleted old.ts.'));
  const resumed = await program.run(['-p', '/continue', '--no-sandbox', '-r', 'killed']);
  const verdictLines = program
    .session('killed')
    .split('\n')
    .filter((line) => line.includes('"check-ended"'));
  assert.equal(verdictLines.filter((line) => line.includes('"failed"')).length, 1, resumed.err);
  assert.match(resumed.err, /Not confirmed by the log: "I deleted old\.ts\." The log has no change of old\.ts\./);
});

const script = (): ScriptStep => says('I deleted old.ts, and all tests pass.');

test('[A2, A26] print mode shows what is not confirmed on standard error and as a field of JSON', async (t) => {
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  const text = await program.run(['-p', 'do it', '--no-sandbox']);
  assert.equal(text.code, 0);
  assert.equal(text.out, 'I deleted old.ts, and all tests pass.\n');
  assert.match(
    text.err,
    /^Not confirmed by the log:\n- "I deleted old\.ts, and all tests pass\." The log has no change of old\.ts\.\n- .*The log has no run of a test command\.$/m,
  );
  const json = await program.run(['-p', 'do it', '--no-sandbox', '--output-format', 'json']);
  const { unconfirmed_claims: claims } = JSON.parse(json.out) as JsonObject;
  assert.ok(Array.isArray(claims) && claims.length === 2);
});

test(
  '[A2, A26] the terminal shows it below the answer, also when the session is shown again, in /why and in an export',
  { skip: noTerminal() },
  async (t) => {
    const program = await createProgram(t, script);
    await program.seedModels('qwen3');
    const terminal = await program.open(['-n', 'claims', '--no-sandbox']);
    await terminal.waitFor(/^> *$/m);
    await terminal.type('do it');
    await terminal.keys('Enter');
    await terminal.waitFor(/Sent back to the model:[^]*Not confirmed by the log:[^]*old\.ts/);
    await terminal.type('/why');
    await terminal.keys('Enter');
    await terminal.waitFor(/the check actions \(event \d+\) let it pass, with statements that are not confirmed/);
    await terminal.type('/exit');
    await terminal.keys('Enter');
    const exported = await program.run(['sessions', 'export', 'claims']);
    assert.match(exported.out, /## Check\n\nNot confirmed by the log:/);
    const again = await program.open(['-r', 'claims', '--no-sandbox']);
    await again.waitFor(/Not confirmed by the log:/);
  },
);
