// Plans in the whole program: the command multi with its exit codes and consent, resume after a kill, and control of one step.
import assert from 'node:assert/strict';
import test from 'node:test';
import { says } from '../src/testing/index.ts';
import { answerPrompt, waitForExitCode } from './support/cli-harness.ts';
import { createBarrier, createFleetProgram } from './support/fleet-program.ts';
import { noTerminal } from './support/terminal.ts';

const planText = (...steps: readonly object[]): string => JSON.stringify({ steps });

const twoSteps = planText({ id: 'a', task: 'Look at A.', after: [] }, { id: 'b', task: 'Look at B.', after: ['a'] });

/** Plans two steps; steps answer with their first words. */
const script = ({ prompt }: { readonly prompt: string }) => {
  if (prompt.startsWith('Make a plan')) return says(twoSteps);
  if (prompt.startsWith('Answer the task')) return says('A and B differ.');
  return says(`Result of ${prompt.slice(0, 10)}`);
};

test('[A82, A59, A60] multi plans, runs and answers; the plan and the state of its steps are shown, and the exit code is 0', async (t) => {
  const program = await createFleetProgram(t, script);
  const { code, out, err } = await program.run(['multi', 'Compare A and B.', '--id', 'm', '--max-usd', '0.5']);
  assert.equal(code, 0, err);
  assert.equal(out, 'A and B differ.\n');
  assert.match(err, /At most {2}20 steps, depth 10, 4 at a time, \$0\.5000, 2 attempts a step, 1 new plan/);
  assert.match(err, /Estimate 9 requests, \d+ tokens, about \$0\.00/);
  assert.match(err, /○ waiting {3}a +Look at A\.[^]*○ waiting {5}b +Look at B\. +\(after a\)|a +Look at A\./);
  assert.match(err, /b: done/);
  const again = await program.run(['multi', '--resume', 'm', '--json']);
  assert.equal(again.code, 0);
  const { run, plan } = JSON.parse(again.out) as {
    readonly run: { readonly status: string };
    readonly plan: { readonly steps: readonly { readonly id: string; readonly status: string }[] };
  };
  assert.deepEqual(
    [run.status, plan.steps.map(({ id, status }) => `${id} ${status}`)],
    ['ended', ['a done', 'b done']],
  );
});

test('[A82, A62] multi exits with 1 if a step failed, also with an answer; the tree says what is blocked and why', async (t) => {
  const fork = planText(
    { id: 'a', task: 'Look at A.', after: [] },
    { id: 'b', task: 'Find B.', after: [] },
    { id: 'c', task: 'Use B.', after: ['b'] },
  );
  const program = await createFleetProgram(t, ({ prompt }) => {
    if (prompt.startsWith('Make a plan')) return says(fork);
    if (prompt.includes('Find B.') && !prompt.startsWith('Answer')) return says('', { wire: { status: 400 } });
    return says('Only A.');
  });
  const { code, out, err } = await program.run(['multi', 'Compare.', '--id', 'm', '--attempts', '1', '--replans', '0']);
  assert.equal(code, 1, err);
  assert.equal(out, 'Only A.\n');
  assert.match(err, /2 of the steps did not succeed: b \(/);
  const shown = await program.run(['runs', 'show', 'm']);
  assert.match(shown.out, /✗ failed +b +Find B\.[^]*⊘ blocked +c +Use B\. +\(after b\)\n +b did not succeed/);
});

test('[A82] without a terminal a plan above the threshold does not start; --resume --yes starts it', async (t) => {
  const many = planText(...Array.from({ length: 3 }, (_, i) => ({ id: `s${i}`, task: `Do ${i}.`, after: [] })));
  const program = await createFleetProgram(t, (turn) =>
    turn.prompt.startsWith('Make a plan') ? says(many) : script(turn),
  );
  const settings = { folder: program.cwd, plan: { confirm: true } };
  await program.enqueue({ id: 'm', prompt: 'Compare.', kind: 'plan', settings });
  const waiting = await program.run(['multi', '--resume', 'm']);
  assert.equal(waiting.code, 1);
  assert.equal(waiting.out, '');
  assert.match(
    waiting.err,
    /The plan has not started: consent was asked for\.\nTo start it: fairlead multi --resume m --yes/,
  );
  assert.equal((await program.store.queue.run('m/step-s0-1')) === undefined, true);
  const started = await program.run(['multi', '--resume', 'm', '--yes']);
  assert.equal(started.code, 0, started.err);
  assert.equal(started.out, 'A and B differ.\n');
});

test('[A117] a plan whose worker is killed in the middle of a step is resumed: no step is done twice, and none is lost', async (t) => {
  const barrier = createBarrier();
  let isHeld = true;
  const program = await createFleetProgram(t, async (turn) => {
    if (isHeld && turn.prompt.startsWith('Look at B.')) await barrier.wait();
    return script(turn);
  });
  await program.enqueue({ id: 'm', prompt: 'Compare.', kind: 'plan' });
  const worker = program.worker();
  await barrier.reached;
  worker.kill('SIGKILL');
  await worker.ended;
  isHeld = false;
  barrier.open();
  const resumed = await program.run(['multi', '--resume', 'm', '--json']);
  assert.equal(resumed.code, 0, resumed.err);
  const children = await program.store.queue.list({ parent: 'm', limit: 100 });
  assert.deepEqual(
    children.map(({ id, outcome }) => `${id} ${outcome?.reason}`).toSorted((a, b) => a.localeCompare(b)),
    ['m/answer answered', 'm/plan-1 answered', 'm/step-a-1 answered', 'm/step-b-1 answered'],
  );
  const asked = program.modelRequests().filter(({ body }) => JSON.stringify(body).includes('"Look at A.'));
  assert.equal(asked.length, 1, 'the step that was done is not done again');
});

test('[A89, A117] one step is cancelled and another steered from another process, while the plan runs', async (t) => {
  const barrier = createBarrier();
  const program = await createFleetProgram(t, async (turn) => {
    if (turn.prompt.startsWith('Look at A.')) await barrier.wait();
    return script(turn);
  });
  const steps = [
    { id: 'a', task: 'Look at A.', after: [] },
    { id: 'b', task: 'Look at B.', after: ['a'] },
    { id: 'c', task: 'Look at C.', after: ['a'] },
  ];
  await program.enqueue({
    id: 'm',
    prompt: 'Compare.',
    kind: 'plan',
    settings: { folder: program.cwd, plan: { steps } },
  });
  const worker = program.worker('--drain');
  await barrier.reached;
  await program.runCommand('runs', 'cancel', 'm', '--step', 'b');
  await program.runCommand('runs', 'steer', 'm', 'In short.', '--step', 'c');
  const wrong = await program.call(['runs', 'cancel', 'm', '--step', 'x']);
  assert.match(wrong.err, /The plan m has no step x\.[^]*Its steps are: a, b, c\./);
  barrier.open();
  await program.waitForRun('m', 'ended');
  await worker.ended;
  const shown = await program.runCommand('runs', 'show', 'm');
  assert.match(shown, /⊗ cancelled +b [^]*it was cancelled by/);
  assert.match(
    JSON.stringify(program.modelRequests().map(({ body }) => body)),
    /The user says about this step:\\nIn short\./,
  );
});

test(
  '[A82] in a terminal the plan is shown before it starts, starts after consent, and is drawn again in place',
  { skip: noTerminal() },
  async (t) => {
    const program = await createFleetProgram(t, script);
    const terminal = await program.open(['multi', 'Compare A and B.', '--id', 'm']);
    await terminal.waitFor(/Plan m waits for consent/);
    assert.equal(await program.store.queue.run('m/step-a-1'), undefined);
    await answerPrompt(terminal, /Start it\? \[y\/N\]/, 'y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    const screen = await terminal.screen();
    assert.match(screen, /Plan m has ended, 2 of 2 steps done[^]*● done +a[^]*● done +b[^]*A and B differ\./);
    assert.equal(screen.match(/● done +b/g)?.length, 1, screen);
  },
);
