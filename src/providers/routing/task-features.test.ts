// Tests of the complexity estimate of a task, including known errors of keyword lists.
import assert from 'node:assert/strict';
import test from 'node:test';
import { lexicon } from './keyword-weights.ts';
import { taskFeatures } from './task-features.ts';

const complexityOf = (task: string): number => taskFeatures(task).complexity;
/** The max complexity for a local model of medium size. */
const simpleTaskLimit = 0.45;

test('[P44, P73] no single word routes a task to the cloud: "design" or "implement" alone is not enough', () => {
  for (const [word, { weight }] of lexicon) {
    assert.ok(Math.abs(weight) <= 0.5, word);
    assert.ok(complexityOf(`please ${word} it`) <= simpleTaskLimit + 0.05, word);
  }
  for (const task of ['design a badge', 'implement fizzbuzz', 'optimize this import', 'refactor this function'])
    assert.ok(complexityOf(task) < simpleTaskLimit, task);
  assert.ok(complexityOf('Design the architecture, then implement and optimize it') > 0.7);
});

test('[P44] only whole words count: "redesign" is not "design", "debug" and "bugle" are not "bug", "important" is not "port"', () => {
  assert.deepEqual(taskFeatures('redesign').reasons, ['"redesign"']);
  assert.deepEqual(taskFeatures('debug').reasons, ['"debug"']);
  for (const word of ['bugle', 'important', 'trace', 'designation', 'listen'])
    assert.deepEqual(taskFeatures(word).reasons, [], word);
});

test('[P44] inflected forms count as the word, and a repeated word counts once', () => {
  for (const form of ['optimize', 'optimise', 'optimising', 'optimized', 'optimizes', 'Optimized'])
    assert.equal(taskFeatures(form).complexity, complexityOf('optimize'), form);
  assert.equal(complexityOf('debugging'), complexityOf('debug'));
  assert.equal(complexityOf('migrate migrating'), complexityOf('migrate it'), 'two forms of one word count once');
  const longer = complexityOf('bug bug bug bug bug') - complexityOf('bug');
  assert.ok(longer < 0.03, 'only the length counts');
});

test('[P44] a long pasted listing does not make a simple task hard, and many steps do', () => {
  const listing = `\n\`\`\`\n${'INFO all is well, design bug architecture\n'.repeat(400)}\`\`\`\n`;
  assert.ok(complexityOf(`Show the first line of this${listing}`) < 0.2);
  const steps = Array.from({ length: 5 }, (_, i) => `${i + 1}. change src/part${i}.ts`).join('\n');
  assert.ok(complexityOf(`Do this:\n${steps}`) > complexityOf('Do this: change src/part1.ts') + 0.2);
});

test('[P44] words of an unlisted language count as neither simple nor hard, and the structure still counts', () => {
  for (const task of [
    '请重构整个项目的架构并优化性能',
    'Bitte benenne diese Datei um',
    'перепиши весь модуль заново',
  ]) {
    const { complexity, kind, reasons } = taskFeatures(task);
    assert.ok(complexity > 0.25 && complexity < simpleTaskLimit, `${task} ${complexity}`);
    assert.equal(kind, 'other');
    assert.ok(reasons.includes('no word of it is in the lists'));
  }
  assert.ok(complexityOf('1. 改这里 a.ts\n2. 改那里 b.ts\n3. 再改 c.ts\n4. 测试 d.ts') > simpleTaskLimit);
  assert.equal(complexityOf(''), 0);
  assert.ok(complexityOf('What is in the README?') < 0.1, 'plain English without a listed word is simple');
});

test('[P73] custom keywords override the lists; negative weights lower the estimate, and an invalid weight is ignored', () => {
  assert.ok(taskFeatures('the gadget', { gadget: 0.9 }).complexity > 0.85);
  assert.equal(taskFeatures('architecture', { architecture: 0 }).complexity, 0);
  assert.ok(complexityOf('fix the typo') < complexityOf('fix it'));
  for (const weight of [Number.NaN, Number.POSITIVE_INFINITY, -5, 7]) {
    const { complexity } = taskFeatures('a gadget with a bug', { gadget: weight });
    assert.ok(complexity >= 0 && complexity <= 1, String(weight));
  }
});
