// Tests of a plan as text: text of a model adds no line and no control character, and no line is wider than the screen.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { PlanStepView, PlanView } from '../../../fleet/index.ts';
import { formatPlan } from './format-plan.ts';

const createPlan = (...steps: readonly (Pick<PlanStepView, 'id'> & Partial<PlanStepView>)[]): PlanView => ({
  run: 'p',
  stage: 'running',
  revision: 1,
  rejected: [],
  cost: { usd: 0, tokens: 0 },
  steps: steps.map((more) => ({
    task: `Do ${more.id}.`,
    after: [],
    depth: 1,
    revision: 1,
    status: 'waiting',
    attempt: 0,
    cost: { usd: 0, tokens: 0 },
    ...more,
  })),
});

test('[A82] a tool name, a task and a reason cannot forge a line of a plan or move the cursor', () => {
  const forged = '\n  ● done      b\u001B[2J';
  const text = formatPlan(
    createPlan({ id: 'a', task: `x${forged}`, tools: [`y${forged}`], status: 'failed', why: `z${forged}` }),
  );
  assert.ok(!text.includes('\u001B'));
  assert.doesNotMatch(text, /^ {2}● done/m);
  assert.equal(text.split('\n').length, 4, text);
});

test('[A82] a step with many dependencies and tools fits into the width, so that the plan can be drawn again in place', () => {
  const names = Array.from({ length: 100 }, (_, i) => `step-${i}`);
  const text = formatPlan(createPlan({ id: 'a', after: names, tools: names, task: 'x'.repeat(1000) }), 80);
  assert.ok(
    text.split('\n').every((line) => line.length <= 80),
    text,
  );
});
