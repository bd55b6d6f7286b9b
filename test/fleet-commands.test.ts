// Fleet commands in the real program: messages to runs, budgets of tenants, batches, schedules.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import type { FleetRun } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createBarrier, createFleetProgram, waitUntilTrue } from './support/fleet-program.ts';
import { isProcessAlive, requestMessages } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';
import { noSandbox } from './support/sandbox.ts';

test('[A85, A112] a running run gets input from another process, each message once', async (t) => {
  const first = createBarrier();
  const program = await createFleetProgram(t, async ({ index, prompt }) => {
    if (index === 0) await first.wait();
    return index === 0 ? calls('list_files', {}) : says(`Heard: ${prompt}`);
  });
  program.worker();
  await program.runCommand('enqueue', 'Go north', '--id', 'ship');
  await first.reached;
  await program.runCommand('runs', 'steer', 'ship', 'No,', 'south');
  await program.runCommand('runs', 'steer', 'ship', 'Then report', '--follow-up');
  const log = await program.store.sessions.reader('ship');
  const heard: string[] = [];
  for await (const event of log.follow(0, AbortSignal.timeout(30_000))) {
    if (event.type === 'input-received') heard.push(event.how);
    if (heard.length === 3) break;
  }
  assert.deepEqual(heard, ['prompt', 'steer', 'follow-up'], 'while the model was still streaming');
  first.open();
  const { outcome } = await program.waitForRun('ship', 'ended');
  assert.equal(outcome?.text, 'Heard: Then report');
  const said = requestMessages(program.modelRequests().at(-1)).filter(({ role }) => role === 'user');
  assert.deepEqual(
    said.map(({ content }) => content),
    ['Go north', 'No, south', 'Then report'],
  );
  const late = await program.run(['runs', 'steer', 'ship', 'Too late']);
  assert.match(late.err, /ship has already ended/);
});

test('[A85] a run can be cancelled in each state: queued, waiting, or running', async (t) => {
  const first = createBarrier();
  const program = await createFleetProgram(t, async ({ prompt }) => {
    if (prompt === 'Long') await first.wait();
    return calls('run_command', { command: 'true' });
  });
  const worker = program.worker();
  await program.enqueue({ id: 'long', prompt: 'Long' });
  await first.reached;
  await program.enqueue({ id: 'asks', prompt: 'Asks' });
  await program.waitForRun('asks', 'waiting');
  await program.enqueue({ id: 'later', prompt: 'Later', notBefore: '2999-01-01T00:00:00.000Z' });
  for (const id of ['long', 'asks', 'later']) await program.runCommand('runs', 'cancel', id);
  for (const id of ['long', 'asks', 'later'])
    assert.equal((await program.waitForRun(id, 'ended')).outcome?.reason, 'cancelled', id);
  assert.equal((await program.run(['runs', 'cancel', 'long'])).code, 1);
  assert.match(
    await program.runCommand('runs', '--status', 'ended', '--limit', '1'),
    /^run {4}status {2}result {5}queued {12}task\nlater {2}ended {3}cancelled {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}Later\n$/,
  );
  worker.kill('SIGTERM');
  first.open();
});

test('[A64] a tenant cannot spend more than its budget over all workers, and other tenants are not delayed', async (t) => {
  const program = await createFleetProgram(t, () => says('Paid for.', { usage: { input: 4000, output: 1000 } }));
  await program.runCommand('fleet', 'budget', 'acme', '--tokens', '20000', '--period', 'ever');
  const tasks = Array.from({ length: 8 }, (_, i) => `Task ${i}`);
  await program.runCommand('enqueue', ...tasks, '--id', 'acme', '--tenant', 'acme');
  await program.enqueue({ id: 'free', prompt: 'Free', tenant: 'other' });
  const workers = await Promise.all([program.run(['worker', '--drain']), program.run(['worker', '--drain'])]);
  assert.deepEqual(
    workers.map(({ code }) => code),
    [0, 0],
  );
  const ended = await program.store.queue.list({ tenant: 'acme' });
  const reasons = (reason: string): number => ended.filter(({ outcome }) => outcome?.reason === reason).length;
  assert.equal(reasons('answered') + reasons('token-budget'), 8);
  assert.ok(reasons('answered') >= 1 && reasons('token-budget') >= 4, `${reasons('answered')} were answered`);
  assert.equal((await program.waitForRun('free', 'ended')).outcome?.reason, 'answered');
  const [acme] = await program.store.ledger.budgets();
  assert.deepEqual([acme?.spent.tokens, acme?.reserved.tokens], [reasons('answered') * 5000, 0]);
  assert.match(
    await program.runCommand('fleet', 'budget'),
    new RegExp(`^acme {2}${reasons('answered') * 5000} of 20000 tokens in total$`, 'm'),
  );
  // Reading a budget, or setting half of one, does not remove it; removing it needs an explicit option.
  assert.match(await program.runCommand('fleet', 'budget', 'acme'), /of 20000 tokens in total/);
  assert.equal((await program.run(['fleet', 'budget', 'acme', '--period', 'day'])).code, 2);
  assert.equal((await program.run(['fleet', 'budget', '--remove', 'nobody'])).code, 1);
  assert.equal((await program.store.ledger.budgets()).length, 1);
  assert.match((await program.run(['fleet', 'budget', '--remove', 'acme'])).err, /The budget of acme is removed/);
  assert.deepEqual(await program.store.ledger.budgets(), []);
});

test('[A71, A84] the factory command processes its tasks with its own worker processes, and a second start repeats nothing', async (t) => {
  const program = await createFleetProgram(t, ({ prompt }) =>
    prompt === 'Ask' ? calls('run_command', { command: 'true' }) : says(`Did ${prompt}`),
  );
  const batch = ['factory', 'One', 'Two', 'Three', '--id', 'lot'];
  const { code, out, err } = await program.run(batch);
  assert.deepEqual(
    [code, out.split('\n').toSorted()],
    [0, ['', 'lot-1  answered  Did One', 'lot-2  answered  Did Two', 'lot-3  answered  Did Three']],
  );
  assert.match(err, /3 runs, 2 workers[^]*3 answered, 0 failed, 0 waiting for approval\.\n$/);
  assert.equal(program.modelRequests().length, 3);
  const again = await program.run([...batch, '--output-format', 'json']);
  const lines = again.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Partial<FleetRun> & { readonly summary?: object });
  assert.deepEqual(
    lines.map(({ id, outcome, summary }) => [id, outcome?.text, summary]),
    [
      ['lot-1', 'Did One', undefined],
      ['lot-2', 'Did Two', undefined],
      ['lot-3', 'Did Three', undefined],
      [undefined, undefined, { answered: 3, failed: 0, waiting: 0, left: 0 }],
    ],
  );
  assert.deepEqual([again.code, program.modelRequests().length], [0, 3]);
  const other = await program.run(['factory', 'Another', '--id', 'lot']);
  assert.deepEqual([other.code, /lot-1 is already another run: its prompt is/.test(other.err)], [1, true]);
  const asks = await program.run(['factory', 'Ask', '--id', 'asks']);
  assert.deepEqual([asks.code, /fairlead runs answer asks-1/.test(asks.err)], [5, true]);
});

test(
  '[A71, A84] an interrupted factory command releases its runs, and the same command continues them',
  { skip: await noSandbox() },
  async (t) => {
    const held = createBarrier();
    const program = await createFleetProgram(t, async ({ index, results }) => {
      if (index === 1) await held.wait();
      return results.length === 0 ? calls('run_command', { command: 'echo once >> effects' }) : says('Through.');
    });
    writeFiles(program.cwd, { 'tasks.txt': 'Go on\n' });
    const batch = ['factory', '--file', 'tasks.txt', '--id', 'lot', '--auto', '--workers', '1'];
    const one = program.start(batch);
    await held.reached;
    one.kill('SIGINT');
    await waitUntilTrue('it hands over', () => one.err().includes('Releasing 1 run.'));
    one.kill('SIGINT');
    const { code, err } = await one.ended;
    assert.deepEqual([code, err.endsWith('1 left.\nTo continue: the same command with --id lot\n')], [130, true], err);
    held.open();
    const two = await program.run(batch);
    assert.deepEqual([two.code, two.out], [0, 'lot-1  answered  Through.\n']);
    assert.equal(readFileSync(path.join(program.cwd, 'effects'), 'utf8'), 'once\n');
  },
);

test('[A71] the workers of the factory command are separate processes, which release their runs when it is killed', async (t) => {
  const held = createBarrier();
  const program = await createFleetProgram(t, async ({ index, results }) => {
    if (index === 0) await held.wait();
    return results.length === 0 ? calls('list_files', {}) : says('Through.');
  });
  const batch = ['factory', 'Go on', '--id', 'lot', '--workers', '1'];
  const one = program.start(batch);
  await held.reached;
  const [{ pid } = { pid: 0 }] = await program.store.workers.list();
  one.kill('SIGKILL');
  await waitUntilTrue('its worker, another process, hands over', () => one.err().includes('Releasing 1 run.'));
  assert.equal(isProcessAlive(pid), true);
  held.open();
  await waitUntilTrue('its worker ends', () => !isProcessAlive(pid));
  assert.equal((await program.waitForRun('lot-1', 'queued')).attempts, 1);
  assert.equal((await program.run(batch)).out, 'lot-1  answered  Through.\n');
});

test('[A85] tasks come from arguments, files and standard input, are queued once, and repeatedly with a schedule', async (t) => {
  const program = await createFleetProgram(t);
  const lines = '{"prompt": "With an id", "id": "own", "priority": 5, "settings": {"auto": true}}\n\nPlain words\n';
  const { out } = await program.run(['enqueue', '--id', 'in', '--model', 'qwen3'], { input: lines });
  assert.equal(out, 'own\nin-2\n');
  assert.equal((await program.run(['enqueue', '--id', 'in', '--model', 'qwen3'], { input: lines })).out, out);
  const own = await program.store.queue.run('own');
  assert.deepEqual([own?.priority, own?.settings], [5, { folder: program.cwd, model: 'qwen3', auto: true }]);
  assert.equal((await program.store.queue.depth()).queued, 2);
  await program.runCommand('enqueue', 'Sweep', '--every', '0 3 * * *', '--name', 'nightly');
  assert.equal(await program.runCommand('fleet', 'schedules'), 'nightly  0 3 * * *  Sweep\n');
  await program.runCommand('fleet', 'schedules', '--remove', 'nightly');
  assert.deepEqual(await program.store.queue.schedules(), []);
  const misused = await Promise.all([
    program.run(['enqueue'], { input: '' }),
    program.run(['enqueue', 'x', '--every', '* * * * *']),
    program.run(['enqueue', 'x', '--not-before', 'soon']),
    program.run(['enqueue', '--file', 'nowhere']),
    program.run(['enqueue'], { input: '{"word": "x"}' }),
    program.run(['worker', '--concurrency', '0']),
    program.run(['fleet', 'dance']),
    program.run(['fleet', 'budget', 'acme', '--usd', 'much']),
    program.run(['runs', 'show', 'nothing']),
    program.run(['factory', '--help']),
    program.run(['runs', '--store', 'mysql://db/fleet']),
  ]);
  assert.deepEqual(
    misused.map(({ code }) => code),
    [2, 2, 2, 1, 1, 2, 2, 2, 1, 0, 1],
  );
});

test('[A85] settings of the terminal apply to queued runs, and a run that cannot be created gives the reason', async (t) => {
  const program = await createFleetProgram(t, ({ results, prompt }) => {
    if (prompt === 'On and on') return calls('list_files', { path: `${results.length}` });
    return results.length === 0 ? calls('run_command', { command: 'rm effects' }) : says(results[0] ?? '');
  });
  writeFiles(program.config(), {
    'policy.yaml': 'rules:\n  - deny: { command: rm }\n    why: Nothing is removed here.\n',
  });
  const settings = { folder: program.cwd, auto: true };
  await program.store.queue.enqueue([
    { id: 'policy', prompt: 'Remove it', settings },
    { id: 'turns', prompt: 'On and on', settings: { ...settings, limits: { turns: 2 } } },
    { id: 'model', prompt: 'x', settings: { ...settings, model: 'nobody' } },
    { id: 'folder', prompt: 'x', settings: { folder: path.join(program.cwd, 'nowhere') } },
    { id: 'wrong', prompt: 'x', settings: { auto: 'yes' } },
  ]);
  await program.runCommand('worker', '--drain');
  const came = await Promise.all(
    ['policy', 'turns', 'model', 'folder', 'wrong'].map(async (id) => (await program.waitForRun(id, 'ended')).outcome),
  );
  assert.deepEqual(
    came.map((outcome) => outcome?.reason),
    ['answered', 'max-turns', 'provider-error', 'provider-error', 'provider-error'],
  );
  assert.match(came[0]?.text ?? '', /Nothing is removed here\./);
  const words = [/has no model "nobody"/, /There is no folder/, /setting auto cannot be "yes"/];
  for (const [i, expected] of words.entries()) assert.match(came[i + 2]?.detail ?? '', expected);
});

test('the store is set on the command line, in the environment or in the settings, but not by a working directory', async (t) => {
  const program = await createFleetProgram(t);
  const at = (name: string): string => path.join(program.home, name);
  await program.runCommand('enqueue', 'x', '--store', at('given.sqlite'));
  await program.run(['enqueue', 'x'], { env: { HARNESS_STORE: at('environment.sqlite') } });
  await program.runCommand('config', 'set', 'store', at('setting.sqlite'));
  await program.runCommand('enqueue', 'x');
  for (const name of ['given', 'environment', 'setting']) assert.ok(existsSync(at(`${name}.sqlite`)), name);
  await program.runCommand('config', 'unset', 'store');
  writeFiles(program.cwd, { '.env': `HARNESS_STORE=${at('foreign.sqlite')}\n` });
  const { err, code } = await program.run(['enqueue', 'x']);
  assert.deepEqual([code, existsSync(at('foreign.sqlite')), (await program.store.queue.depth()).queued], [0, false, 1]);
  assert.match(err, /HARNESS_STORE in .*\.env is not used/);
});

test('[A85, A89] a plan accepts no input, and the error names the run to send it to', async (t) => {
  const program = await createFleetProgram(t);
  await program.store.queue.enqueue([
    { id: 'p', prompt: 'x', kind: 'plan' },
    { id: 'p/step-a-1', prompt: 'y', parent: 'p' },
  ]);
  const steered = await program.run(['runs', 'steer', 'p', 'Go', 'south']);
  assert.deepEqual([steered.code, steered.out], [1, '']);
  assert.match(steered.err, /p is a plan run and does not accept messages\.[^]*p\/step-a-1/);
  const answered = await program.run(['runs', 'answer', 'p', 'yes']);
  assert.match(answered.err, /p is a plan run [^]*p\/step-a-1/);
  assert.deepEqual([answered.code, await program.store.inbox.read('p', 0)], [1, []]);
  await program.runCommand('runs', 'steer', 'p/step-a-1', 'Go south');
  await program.runCommand('runs', 'cancel', 'p');
  for (const id of ['p', 'p/step-a-1']) assert.equal((await program.store.queue.run(id))?.status, 'ended', id);
});

test('[A85] a draining worker ends with the number of remaining runs and the reason, in a sentence and in its exit code', async (t) => {
  const program = await createFleetProgram(t, () => calls('run_command', { command: 'true' }));
  const drained = async (): Promise<readonly [number | null, string]> => {
    const { code, err } = await program.run(['worker', '--drain']);
    return [code, err.replace(/^[^]* is connected to sqlite fleet\.sqlite\n/, '')];
  };
  assert.deepEqual(await drained(), [0, '']);
  await program.enqueue({ id: 'asks', prompt: 'Asks' }, { prompt: 'Behind', session: 'asks' });
  assert.deepEqual(await drained(), [
    5,
    '2 runs wait for approval. To see the questions: fairlead runs --status waiting\n',
  ]);
  await program.enqueue({ prompt: 'Later', notBefore: '2999-01-01T00:00:00.000Z' });
  const [code, later] = await drained();
  assert.equal(code, 8);
  assert.match(later, /^1 run starts later, at 2999-01-01T00:00:00\.000Z\.\n2 runs wait for approval\./);
  await program.enqueue({ id: 'old', prompt: 'Old' });
  const over = new AbortController();
  const work = { worker: 'w', concurrency: 1, version: '0.0.1', signal: over.signal };
  await program.store.queue.work({ ...work, handle: async () => (over.abort(), { type: 'released' }) });
  const [other, said] = await drained();
  assert.equal(other, 8);
  assert.match(
    said,
    /^1 run was started by version 0\.0\.1: a worker of that version, or one with --any-version, continues it\.$/m,
  );
  await program.store.killSwitch.stop('smoke', 'a test');
  const [stopped, why] = await drained();
  assert.equal(stopped, 8);
  assert.match(why, /^4 runs are left, because the fleet is stopped: smoke\. To resume: fairlead fleet resume$/m);
});

test('[A71, A84] the factory command ends when its runs cannot continue, reports why, and waits for runs that a plan started', async (t) => {
  const program = await createFleetProgram(t, ({ prompt }) =>
    prompt.includes('Make a plan') ? says('{"steps":[{"id":"a","task":"Do it","after":[]}]}') : says('Done.'),
  );
  const lines = '{"prompt": "Later", "notBefore": "2999-01-01T00:00:00Z"}\n{"words": "All of it", "kind": "plan"}\n';
  const first = await program.run(['factory', '--id', 'lot'], { input: lines });
  assert.deepEqual([first.code, first.out], [8, 'lot-2  answered  Done.\n'], first.err);
  assert.match(first.err, /^1 run starts later, at 2999-01-01T00:00:00\.000Z\.$/m);
  assert.match(
    first.err,
    /1 answered, 0 failed, 0 waiting for approval, 1 left\.\nTo continue: the same command with --id lot\n$/,
  );
  await program.store.killSwitch.stop('smoke', 'a test');
  const stopped = await program.run(['factory', 'One', '--id', 'other']);
  assert.equal(stopped.code, 8);
  assert.match(stopped.err, /^1 run is left, because the fleet is stopped: smoke\. To resume: fairlead fleet resume$/m);
});

test('[P54] HARNESS_MODEL sets the model of runs that name none, with precedence over any file, as a container needs it', async (t) => {
  const program = await createFleetProgram(t);
  const settings = { folder: program.cwd };
  writeFiles(program.cwd, { '.fairlead/config.json': '{"model": "qwen3"}' });
  await program.store.queue.enqueue([
    { id: 'plain', prompt: 'x', settings },
    { id: 'named', prompt: 'y', settings: { ...settings, model: 'qwen3' } },
  ]);
  const { code, err } = await program.run(['worker', '--drain'], { env: { HARNESS_MODEL: 'tiny' } });
  assert.deepEqual([code, /Runs use the model tiny unless they name another\./.test(err)], [0, true], err);
  const models = program.modelRequests().map((request) => {
    const { model } = request.body as { readonly model: string };
    return `${String(requestMessages(request).at(-1)?.['content'])} ${model}`;
  });
  assert.deepEqual(models.toSorted(), ['x tiny', 'y qwen3']);
});

test('[A85, A91] the same id is the same run only with the same prompt and settings; otherwise the request is refused', async (t) => {
  const program = await createFleetProgram(t);
  assert.equal(await program.runCommand('enqueue', 'Pay bill 17', '--id', 'bill'), 'bill\n');
  const again = await program.run(['enqueue', 'Pay bill 17', '--id', 'bill']);
  assert.deepEqual(again, { code: 0, out: 'bill\n', err: 'bill is already in the queue: it is queued.\n' });
  const other = await program.run(['enqueue', 'Pay bill 18', '--id', 'bill']);
  assert.deepEqual([other.code, other.out], [1, '']);
  assert.match(other.err, /bill is already another run: its prompt is "Pay bill 17"\./);
  const bolder = await program.run(['enqueue', 'Pay bill 17', '--id', 'bill', '--auto']);
  assert.deepEqual([bolder.code, bolder.out], [1, '']);
  assert.match(bolder.err, /bill is already another run: its settings are \{"folder":/);
  const lines = '{"words": "New"}\n{"words": "Other", "id": "bill"}\n';
  assert.equal((await program.run(['enqueue'], { input: lines })).code, 1);
  const soon = await program.run(['enqueue'], { input: '{"words": "Pay bill 17", "id": "bill", "notBefore": "soon"}' });
  assert.match(soon.err, /^bill is already another run: its notBefore is null\./);
  const twice = '{"words": "One", "id": "twin"}\n{"words": "Two", "id": "twin"}\n';
  assert.match(
    (await program.run(['enqueue'], { input: twice })).err,
    /twin is already another run: its prompt is "One"\./,
  );
  const bolderTwin = '{"words": "One", "id": "twin"}\n{"words": "One", "id": "twin", "settings": {"auto": true}}\n';
  assert.match(
    (await program.run(['enqueue'], { input: bolderTwin })).err,
    /twin is already another run: its settings are/,
  );
  assert.equal((await program.store.queue.depth()).queued, 1, 'no run of an invalid list is queued');
});

test('[A52, J76] the sessions of queued runs are listed, shown, exported and verified like those of the terminal', async (t) => {
  const program = await createFleetProgram(t, () => says('Painted.'));
  assert.match(
    (await program.run(['sessions', 'list', '--fleet'])).err,
    /^There is no session in sqlite fleet\.sqlite yet\.$/m,
  );
  await program.enqueue({ id: 'fence', prompt: 'Paint the fence' }, { prompt: 'Then the gate', session: 'fence' });
  await program.runCommand('worker', '--drain');
  const own = await program.run(['sessions']);
  assert.deepEqual([own.code, own.out], [0, '']);
  assert.match(own.err, /Sessions of queued runs: fairlead sessions list --fleet\n$/);
  const listed =
    /^session +last change +events +begins with\nfence +\d{4}-\d\d-\d\d \d\d:\d\d +\d+ +Paint the fence\n$/;
  assert.match(await program.runCommand('sessions', 'list', '--fleet'), listed);
  assert.match(await program.runCommand('sessions', '--store', program.data('fleet.sqlite')), listed);
  const [entry] = JSON.parse(await program.runCommand('sessions', 'list', '--fleet', '--json')) as {
    readonly session: string;
  }[];
  assert.equal(entry?.session, 'fence');
  const shown = '── User ──\nPaint the fence\n\n── Assistant ──\nPainted.\n\n── User ──\nThen the gate\n';
  assert.ok((await program.runCommand('sessions', 'show', 'fence', '--fleet')).startsWith(shown));
  const { id, created, messages } = JSON.parse(
    await program.runCommand('sessions', 'export', 'fence', '--fleet', '--format', 'json'),
  ) as { readonly id: string; readonly created: string; readonly messages: readonly object[] };
  assert.deepEqual([id, messages.length, Number.isNaN(Date.parse(created))], ['fence', 4, false]);
  assert.match(await program.runCommand('sessions', 'verify', '--fleet'), /^fence: ok \(\d+ events\)\n$/);
  const missing = await program.run(['sessions', 'show', 'gate', '--fleet']);
  assert.deepEqual([missing.code, missing.out], [1, '']);
  assert.match((await program.run(['sessions', 'delete', 'fence', '--fleet'])).err, /has no option --fleet/);
  const database = new DatabaseSync(program.data('fleet.sqlite'));
  database.exec("UPDATE events SET fact = '{' WHERE seq = 2");
  database.close();
  const bad = await program.run(['sessions', 'verify', 'fence', '--fleet']);
  assert.deepEqual([bad.code, bad.out], [1, 'fence: damaged\n  Event 2 of session fence is not JSON.\n']);
});
