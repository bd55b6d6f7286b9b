// The real program tells the user how the context is used: large on a local model, filling fast, what fills it, and a budget of tokens.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';

test('[P84] above 32K tokens on a local model the user is warned, in a pipe and at the prompt', async (t) => {
  const program = await createProgram(t, () => says('Fine.', { usage: { input: 40_000, output: 5 } }));
  await program.seedModels('qwen3');
  const once = await program.run(['--one-shot', '--prompt', 'hi']);
  assert.deepEqual([once.code, once.out], [0, 'Fine.\n']);
  assert.match(
    once.err,
    /The context has 40,005 tokens\. Above 32K tokens the answers of local models usually get worse/,
  );
  const prompt = await program.call(['--interactive'], { input: 'hi\nhi again\n' });
  assert.equal(prompt.out.match(/Above 32K tokens/g)?.length, 1, prompt.out);
});

test('[P74] a context that fills fast is a warning; /context shows what fills it; limits.tokens ends the run', async (t) => {
  const program = await createProgram(
    t,
    ({ results }) =>
      results.length < 2
        ? calls('read_file', { path: `${results.length}.txt` })
        : says('Read.', { usage: { input: 6600, output: 5 } }),
    { models: [{ id: 'qwen3', tools: true, context: 8192 }] },
  );
  for (const name of ['0', '1']) writeFileSync(path.join(program.cwd, `${name}.txt`), 'word\n'.repeat(20));
  await program.seedModels('qwen3');
  const { out } = await program.call(['--interactive'], { input: 'Read the files.\n/context\n' });
  assert.match(out, /The context fills fast: the last turn added [\d,]+ tokens, \d+% of the window of 8,192/);
  assert.match(out, /Context: [\d,]+ tokens of 8,192 \(\d+%\)[^]*read_file/);
  assert.equal((await program.call(['config', 'set', 'limits.tokens', '20'])).code, 0);
  const stopped = await program.call(['--one-shot', '--prompt', 'Read the files.']);
  assert.notEqual(stopped.code, 0);
  assert.match(stopped.err, /^0 of 20 tokens are used and the next request needs about \d+\./);
});
