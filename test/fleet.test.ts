// A fleet in the real program: runs survive their workers, wait for approval, stop with the kill switch, and repeat no effect.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createBarrier, createFleetProgram, waitUntilTrue, type FleetProgram } from './support/fleet-program.ts';
import { noSandbox } from './support/sandbox.ts';

const appendCommand = 'echo done >> effects';

// A worker runs commands only in a sandbox.
const withoutSandbox = await noSandbox();

const readEffects = ({ cwd }: FleetProgram): readonly string[] => {
  const file = path.join(cwd, 'effects');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

test(
  '[A24, A52, A53, A85] a run whose worker is killed is completed by another, and its effect happens once',
  { skip: withoutSandbox },
  async (t) => {
    const stuck = createBarrier();
    const program = await createFleetProgram(t, async ({ index, results }) => {
      if (results.length === 0) return calls('run_command', { command: appendCommand });
      if (index === 1) await stuck.wait();
      return says('Finished.');
    });
    assert.equal(await program.runCommand('enqueue', 'Do it once', '--id', 'first', '--auto'), 'first\n');
    const one = program.worker();
    await stuck.reached;
    one.kill('SIGKILL');
    assert.equal((await one.ended).code, null);
    stuck.open();
    const two = await program.run(['worker', '--drain']);
    assert.match(two.out, /^first {2}answered {2}Finished\.$/m);
    assert.deepEqual(readEffects(program), ['done']);
    const { attempts, outcome } = await program.waitForRun('first', 'ended');
    assert.deepEqual([attempts, outcome?.text, outcome?.spent.calls], [2, 'Finished.', 1]);
  },
);

test(
  '[A53, A112] an effect that was running when its worker was killed is shown to the user, not repeated',
  { skip: withoutSandbox },
  async (t) => {
    const program = await createFleetProgram(t, ({ results }) =>
      results.length === 0
        ? calls('run_command', { command: `${appendCommand}; while [ -e effects ]; do sleep 0.1; done` })
        : says(results.at(-1) ?? ''),
    );
    await program.enqueue({ id: 'half', prompt: 'Do it once', settings: { auto: true } });
    const one = program.worker();
    await waitUntilTrue('the effect is under way', () => readEffects(program).length === 1);
    one.kill('SIGKILL');
    await one.ended;
    assert.equal((await program.run(['worker', '--drain'])).code, 5);
    const { pendingApprovals: questions } = await program.waitForRun('half', 'waiting');
    assert.equal(questions[0]?.kind, 'unknown-outcome');
    assert.match(
      await program.runCommand('runs', 'show', 'half'),
      /may or may not have happened[^]*fairlead runs answer half happened \(or yes: run it again; or no: unknown\)/,
    );
    await program.runCommand('runs', 'answer', 'half', 'happened');
    const two = await program.run(['worker', '--drain']);
    assert.match(two.out, /^half {2}answered {2}The user confirmed/m);
    assert.deepEqual(readEffects(program), ['done']);
  },
);

test(
  '[A112] a run that needs approval waits without a worker, is approved from another process, and continues',
  { skip: withoutSandbox },
  async (t) => {
    const program = await createFleetProgram(t, ({ results }) =>
      results.length === 0
        ? calls('run_command', { command: appendCommand })
        : says(results.at(-1)?.slice(0, 40) ?? ''),
    );
    await program.runCommand('enqueue', 'With a yes', 'With a no', '--id', 'ask');
    const { err, out } = await program.run(['worker', '--drain']);
    assert.match(
      out,
      /ask-1 {2}asks: run_command: echo done >> effects\n {2}To answer: fairlead runs answer ask-1 yes \(or no\)/,
    );
    assert.doesNotMatch(err, /Error/);
    const [yes, no] = await Promise.all([
      program.waitForRun('ask-1', 'waiting'),
      program.waitForRun('ask-2', 'waiting'),
    ]);
    assert.deepEqual(
      [yes.pendingApprovals.length, no.pendingApprovals.length, program.modelRequests().length],
      [1, 1, 2],
    );
    assert.equal((await program.run(['runs', 'answer', 'ask-1', 'happened'])).code, 1);
    assert.equal((await program.run(['runs', 'answer', 'ask-1', 'maybe'])).code, 2);
    assert.equal((await program.run(['runs', 'answer', 'ask-3', 'yes'])).code, 1);
    await program.runCommand('runs', 'answer', 'ask-1', 'yes');
    await program.runCommand('runs', 'answer', 'ask-2', 'no');
    assert.deepEqual(readEffects(program), [], 'nothing happens without a worker');
    await program.runCommand('worker', '--drain');
    assert.deepEqual(readEffects(program), ['done']);
    assert.match((await program.waitForRun('ask-2', 'ended')).outcome?.text ?? '', /Denied by user/);
    const again = await program.run(['runs', 'answer', 'ask-1', 'yes']);
    assert.match(again.err, /has no such question: it is ended/);
  },
);

test('[A95] the kill switch stops running runs, persists over restarts, and the runs continue after it is reset', async (t) => {
  const first = createBarrier();
  const program = await createFleetProgram(t, async ({ index }) => {
    if (index === 0) await first.wait();
    return says('At last.');
  });
  const worker = program.worker();
  await program.enqueue({ id: 'long', prompt: 'Long' });
  await first.reached;
  const stopped = await program.run(['fleet', 'stop', 'smoke', 'in', 'the', 'hall']);
  assert.match(stopped.err, /The fleet is stopped: smoke in the hall/);
  assert.equal((await program.waitForRun('long', 'queued')).attempts, 1);
  await waitUntilTrue('the worker says so', () => worker.err().includes('The fleet is stopped: smoke in the hall'));
  worker.kill('SIGTERM');
  assert.equal((await worker.ended).code, 143);
  const other = program.worker();
  await waitUntilTrue('another one is stopped too', () => other.err().includes('The fleet is stopped'));
  assert.match(await program.runCommand('fleet'), /The fleet is stopped: smoke in the hall\n1 queued, 0 running/);
  assert.equal(program.modelRequests().length, 1);
  await program.runCommand('fleet', 'resume');
  assert.equal((await program.waitForRun('long', 'ended')).outcome?.text, 'At last.');
  assert.equal(program.modelRequests().length, 2);
  first.open();
});

test('[A95] a kill switch that cannot be read stops the workers', async (t) => {
  const first = createBarrier();
  const program = await createFleetProgram(t, async ({ index }) => {
    if (index === 0) await first.wait();
    return says('Not to be said.');
  });
  const worker = program.worker();
  await program.enqueue({ id: 'long', prompt: 'Long' });
  await first.reached;
  const database = new DatabaseSync(program.data('fleet.sqlite'));
  database.exec("DELETE FROM control WHERE name = 'standing'");
  database.close();
  await waitUntilTrue('the worker stops', () =>
    /The fleet is stopped: The kill.switch cannot be read/.test(worker.err()),
  );
  first.open();
  assert.equal((await program.waitForRun('long', 'queued')).attempts, 1);
  await program.store.killSwitch.resume('a test');
  assert.equal((await program.waitForRun('long', 'ended')).outcome?.text, 'Not to be said.');
});

test(
  '[A85, A116] a worker that gets a stop signal completes its step and releases the run; at a second signal it stops at once',
  { skip: withoutSandbox },
  async (t) => {
    const step = createBarrier();
    const hang = createBarrier();
    const program = await createFleetProgram(t, async ({ index, results }) => {
      if (index === 0) await step.wait();
      if (index === 1) await hang.wait();
      return results.length === 0 ? calls('run_command', { command: appendCommand }) : says('Handed on.');
    });
    await program.enqueue({ id: 'baton', prompt: 'Hand it on', settings: { auto: true } });
    const one = program.worker();
    await step.reached;
    one.kill('SIGTERM');
    await waitUntilTrue('it hands over', () => one.err().includes('Releasing 1 run.'));
    step.open();
    assert.equal((await one.ended).code, 143);
    const left = await program.waitForRun('baton', 'queued');
    assert.deepEqual([left.attempts, readEffects(program).length, program.modelRequests().length], [1, 0, 1]);
    const two = program.worker();
    await hang.reached;
    assert.deepEqual(readEffects(program), ['done']);
    two.kill('SIGINT');
    await waitUntilTrue('it waits for the step', () => two.err().includes('Releasing 1 run.'));
    two.kill('SIGINT');
    assert.equal((await two.ended).code, 130);
    await program.runCommand('worker', '--drain');
    assert.equal((await program.waitForRun('baton', 'ended')).outcome?.text, 'Handed on.');
    assert.deepEqual(readEffects(program), ['done']);
    hang.open();
  },
);
