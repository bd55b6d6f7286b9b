// Attacks on session files: a program that can write them rewrites what was said, with correct hashes.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { hashLine } from '../src/stores/jsonl/line.ts';
import { says } from '../src/testing/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { createProgram } from './support/cli-harness.ts';

/** Replaces text in the lines of a session file, and chains the hashes again. */
function forge(text: string, from: string, to: string): string {
  let link = '';
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const body = line.replace(/,"hash":"[\w-]{22}"\}$/, '').replaceAll(from, to);
      link = hashLine(link, body);
      return `${body},"hash":"${link}"}`;
    });
  return `${lines.join('\n')}\n`;
}

test('[attack 119] a session file that was rewritten with correct hashes is reported when it is verified and resumed', async (t) => {
  const program = await createProgram(t, () => says('The payment was refused.'));
  await program.seedModels('qwen3');
  assert.equal((await program.run(['-n', 'pay', 'What happened?'])).code, 0);
  const file = program.data('sessions', 'session_pay.jsonl');
  const original = readFileSync(file, 'utf8');
  assert.equal(forge(original, 'no such text', ''), original, 'the hashes are computed as the program does');

  const intact = await program.run(['sessions', 'verify', 'pay']);
  assert.deepEqual([intact.code, /^pay: ok \(/m.test(intact.out)], [0, true]);

  writeFileSync(file, forge(original, 'refused', 'approved'));
  const verified = await program.run(['sessions', 'verify', 'pay']);
  assert.equal(verified.code, 1);
  assert.match(verified.out, /another program rewrote it, or an earlier copy was restored/);
  const resumed = await program.run(['--resume', 'pay', 'And then?']);
  assert.match(resumed.err, /another program rewrote it, or an earlier copy was restored/);

  const longer = readFileSync(file, 'utf8');
  assert.equal((await program.run(['sessions', 'verify', 'pay'])).code, 0, 'what was resumed and closed is known');
  writeFileSync(file, original);
  assert.equal((await program.run(['sessions', 'verify', 'pay'])).code, 1, 'an earlier copy');
  writeFileSync(file, longer);
  assert.equal((await program.run(['sessions', 'verify', 'pay'])).code, 0);
  assertAttack(t, 119, ['shown']);
});
