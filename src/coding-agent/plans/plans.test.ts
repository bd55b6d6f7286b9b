// Tests of plans: their files and steps, and carrying out an approved text with its steps tracked.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Event, Json } from '../../core/index.ts';
import {
  carryOutPlan,
  formatPlanProgress,
  getPlanFile,
  parsePlanSteps,
  planProgressKey,
  planProgressView,
  readPlan,
  writePlan,
  type Plan,
  type PlanHost,
  type PlanProgress,
  type StepEnd,
} from './index.ts';

const text = '# Plan\n\nWhy.\n\n1. Read a\n   1. nested\n2. Change b\n3. Test c\n';

function createFixture(t: TestContext): { readonly plan: Plan; readonly file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-plans-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = getPlanFile(folder, '/work folder', '../evil/name');
  assert.match(path.relative(folder, file).replaceAll(path.sep, '/'), /^plans\/[0-9a-f]{16}\/_evil_name\.md$/);
  return { plan: writePlan(file, text), file };
}

/** A host whose runs end as listed, with what it recorded and ran. */
function createHost(
  file: string,
  ends: readonly StepEnd[],
  more: Partial<PlanHost> = {},
): PlanHost & {
  readonly prompts: string[];
  readonly progress: () => PlanProgress | undefined;
  readonly states: string[];
} {
  const prompts: string[] = [];
  const states: string[] = [];
  let progress: PlanProgress | undefined;
  return {
    prompts,
    states,
    progress: () => progress,
    annotate: async (key: string, value: Json) => {
      assert.equal(key, planProgressKey);
      progress = planProgressView.on(progress, { type: 'annotation-added', key, value } as Event);
      states.push(progress?.steps.map(({ state }) => state[0]).join('') ?? '');
    },
    readPlan: () => readPlan(file),
    runStep: async (note, prompt) => {
      prompts.push(`${note.split('\n')[0]} | ${prompt}`);
      return ends[prompts.length - 1] ?? { problem: 'no more' };
    },
    ...more,
  };
}

test('[A20] the steps of a plan are its numbered list, or its check list; a plan without steps is refused in a sentence', (t) => {
  const { plan, file } = createFixture(t);
  assert.deepEqual(plan.steps, ['Read a', 'Change b', 'Test c']);
  assert.deepEqual(parsePlanSteps('- [ ] one\n- [x] two\n'), ['one', 'two']);
  assert.deepEqual(parsePlanSteps('```\n1. code\n```\n'), []);
  assert.throws(() => writePlan(file, 'Which database?'), /has no steps: write them as a numbered list/);
  assert.throws(() => readPlan(`${file}.none`), /There is no plan in /);
  assert.throws(() => writePlan(file, `1. ${'x'.repeat(200_001)}`), /is longer than 200000 characters/);
  assert.equal(parsePlanSteps('1. x\n'.repeat(300)).length, 200);
});

test('[A20] only a report in the first line fails a step, and an event that is no progress changes nothing', async (t) => {
  const { plan, file } = createFixture(t);
  const host = createHost(file, [
    { answer: 'Read.\nThe log says:\nStep failed: earlier' },
    { answer: 'Changed.' },
    { answer: 'Tested.' },
  ]);
  const { end, progress } = await carryOutPlan(plan, undefined, host);
  assert.equal(end, 'done');
  const { steps } = progress;
  for (const value of [null, {}, { ...progress, steps: [{ text: 'x', state: 'approved' }] }, { name: 1, steps }])
    assert.equal(
      planProgressView.on(progress, { type: 'annotation-added', key: planProgressKey, value } as Event),
      progress,
    );
});

test('[A20] each step is run alone and each change of its state is an event', async (t) => {
  const { plan, file } = createFixture(t);
  const host = createHost(file, [{ answer: 'Read.' }, { answer: 'Changed.' }, { answer: 'Tested.' }]);
  assert.equal((await carryOutPlan(plan, undefined, host)).end, 'done');
  assert.deepEqual(host.states, ['ppp', 'app', 'dpp', 'dap', 'ddp', 'dda', 'ddd']);
  assert.match(host.prompts[1] ?? '', /Step 2 of 3: Change b \| Carry out step 2 of the plan\./);
  const progress = host.progress();
  assert.ok(progress);
  assert.equal(formatPlanProgress(progress), '☑ 1. Read a\n☑ 2. Change b\n☑ 3. Test c');
});

test('[A20] a failed step ends the plan, and the next approval of the same text continues at it; an interrupted one is pending again', async (t) => {
  const { plan, file } = createFixture(t);
  const failing = createHost(file, [{ answer: 'Read.' }, { answer: '**Step failed:** b is missing\nmore' }]);
  assert.equal((await carryOutPlan(plan, undefined, failing)).end, 'failed');
  assert.equal(failing.progress()?.steps[1]?.reason, 'b is missing');
  assert.equal(failing.prompts.length, 2, 'the step after it is not run');
  const cancelled = createHost(file, [{ problem: 'cancelled', isCancelled: true }]);
  assert.equal((await carryOutPlan(plan, failing.progress(), cancelled)).end, 'stopped');
  assert.equal(cancelled.states.at(-1), 'dpp');
  const rest = createHost(file, [{ answer: 'Changed.' }, { answer: 'Tested.' }]);
  assert.equal((await carryOutPlan(plan, cancelled.progress(), rest)).end, 'done');
  assert.equal(rest.prompts.length, 2);
});

test('[A20] a step of a file that was changed after the approval is not run, and steps of another text count for nothing', async (t) => {
  const { plan, file } = createFixture(t);
  const host = createHost(file, [], {
    runStep: async () => {
      writeFileSync(file, `${text}4. Delete everything\n`);
      return { answer: 'Read.' };
    },
  });
  assert.equal((await carryOutPlan(plan, undefined, host)).end, 'changed');
  assert.equal(host.states.at(-1), 'dpp');
  const next = createHost(file, [{ problem: 'stop here' }]);
  assert.equal((await carryOutPlan(readPlan(file), host.progress(), next)).end, 'failed');
  assert.equal(next.states[0], 'pppp');
});

test('[A20] with approval by step each step is asked about: run, skip or stop', async (t) => {
  const { plan, file } = createFixture(t);
  const asked: string[] = [];
  const decisions = ['skip', 'run', 'stop'] as const;
  const host = createHost(file, [{ answer: 'Changed.' }], {
    approveStep: async (step, number) => {
      asked.push(`${number} ${step}`);
      return decisions[number - 1] ?? 'stop';
    },
  });
  assert.equal((await carryOutPlan(plan, undefined, host)).end, 'stopped');
  assert.deepEqual(asked, ['1 Read a', '2 Change b', '3 Test c']);
  assert.equal(host.states.at(-1), 'sdp');
});
