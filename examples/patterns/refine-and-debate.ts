// An author improves its answer with an independent evaluator, and two models debate before a judge of a third family.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { debate, refineAnswer } from 'fairlead/patterns';
import { says, scriptedProvider } from 'fairlead/testing';

const open = (model: string, ...answers: readonly string[]) =>
  scriptedProvider(
    answers.map((text) => says(text)),
    { model },
  );
const author = new Agent({ name: 'author', model: open('gpt-5', 'A rope is strong.', 'A rope holds 200 kg.') });
const critic = new Agent({
  name: 'critic',
  model: open('claude-opus-5', '{"score": 0.4, "feedback": "Give a number."}', '{"score": 0.9, "feedback": ""}'),
});

const { signal } = new AbortController();
const refined = await refineAnswer({
  task: 'How strong is the rope?',
  author,
  evaluator: critic,
  target: 0.9,
  signal,
  budget: { calls: 10, tokens: 50_000 },
});
console.log(`${refined.text} Score ${refined.score}, ${refined.spent.calls} calls: ${refined.detail}`);
assert.equal(refined.text, 'A rope holds 200 kg.');
assert.deepEqual(
  refined.trace.map(({ by, about, score }) => [by, about, score]),
  [
    ['author', 'round 1', undefined],
    ['critic', 'round 1', 0.4],
    ['author', 'round 2', undefined],
    ['critic', 'round 2', 0.9],
  ],
);

// The author cannot judge itself, under any name.
await assert.rejects(
  refineAnswer({ task: 'x', author, evaluator: { name: 'other', agent: author }, signal, budget: { calls: 4 } }),
  { code: 'patterns/not-independent' },
);

// A judge gets the statements without names, each time in another order.
const debated = await debate({
  question: 'Is 91 a prime number?',
  debaters: [
    new Agent({ name: 'ann', model: open('gpt-5', 'Yes, 91 is prime.') }),
    new Agent({ name: 'bob', model: open('gemini-3-pro', 'No: 91 = 7 × 13.') }),
  ],
  judges: [
    {
      name: 'calculator',
      asksModel: false,
      run: ({ sides }) => ({
        winner: sides.find(({ statements }) => statements.some((text) => text.includes('7 × 13')))?.label ?? null,
      }),
    },
  ],
  rounds: 1,
  signal,
  budget: { calls: 4 },
});
assert.deepEqual([debated.winner, debated.text], ['bob', 'No: 91 = 7 × 13.']);
