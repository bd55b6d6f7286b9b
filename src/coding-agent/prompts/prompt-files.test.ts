// Tests prompt files: which are listed, read and rejected.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { FairleadError } from '../../core/index.ts';
import { listPromptFiles, listShippedPrompts, readSavedPrompt, readPromptFile } from './prompt-files.ts';

function dir(t: TestContext): string {
  const top = mkdtempSync(path.join(tmpdir(), 'fairlead-prompts-'));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const write = (name: string, text: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    writeFileSync(path.join(top, name), text);
  };
  write('secret.txt', 'the secret');
  write('data/prompts/review.md', 'Review this.\n');
  write('data/prompts/git/commit message.md', 'Write a commit message.');
  write('data/prompts/.hidden', 'x');
  write('data/prompts/empty.md', ' \n');
  write('data/prompts/binary.bin', Uint8Array.of(104, 0, 105));
  write('data/prompts/large.md', 'x'.repeat(1_048_577));
  symlinkSync(path.join(top, 'secret.txt'), path.join(top, 'data/prompts/leak.md'));
  symlinkSync('git/commit message.md', path.join(top, 'data/prompts/alias.md'));
  symlinkSync(top, path.join(top, 'data/prompts/out'));
  return top;
}

const refusal = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof FairleadError);
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

test('[J65] [J94] the prompts below the data directory are listed with their subdirectories, without links out of it', (t) => {
  const top = dir(t);
  const shipped = listShippedPrompts();
  const saved = listPromptFiles(path.join(top, 'data')).filter((name) => !shipped.includes(name));
  assert.deepEqual(saved, ['alias.md', 'binary.bin', 'empty.md', 'git/commit message.md', 'large.md', 'review.md']);
  assert.deepEqual(listPromptFiles(path.join(top, 'nowhere')), shipped);
});

test('[J65] [J73] a prompt is named by its path below the prompts directory', (t) => {
  const data = path.join(dir(t), 'data');
  assert.equal(readSavedPrompt(data, 'review.md'), 'Review this.\n');
  assert.equal(readSavedPrompt(data, 'git/commit message.md'), 'Write a commit message.');
  assert.equal(readSavedPrompt(data, 'alias.md'), 'Write a commit message.');
  assert.equal(readSavedPrompt(data, 'git/../review.md'), 'Review this.\n');
});

test('[J73] no name reaches a file outside the prompts directory', (t) => {
  const top = dir(t);
  const data = path.join(top, 'data');
  for (const name of ['../../secret.txt', path.join(top, 'secret.txt'), 'git/../../../secret.txt', '..', 'a\0b'])
    assert.throws(() => readSavedPrompt(data, name), refusal('prompt/outside', /is not in/), name);
  for (const name of ['leak.md', 'out/secret.txt'])
    assert.throws(() => readSavedPrompt(data, name), refusal('prompt/outside', /links out of/), name);
});

test('[J65] [J23] a file that cannot be sent is rejected with the reason', (t) => {
  const top = dir(t);
  const data = path.join(top, 'data');
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['none.md', 'prompt/missing', /does not exist/],
    ['git', 'prompt/folder', /is a folder/],
    ['empty.md', 'prompt/empty', /is empty/],
    ['binary.bin', 'prompt/binary', /is not a text file/],
    ['large.md', 'prompt/too-large', /1048577 bytes; the maximum is 1048576/],
  ];
  for (const [name, code, message] of cases) {
    assert.throws(() => readSavedPrompt(data, name), refusal(code, message), name);
    assert.throws(() => readPromptFile(name, path.join(data, 'prompts')), refusal(code, message), name);
  }
});

test('[J73] [J23] a prompt file may be anywhere, by absolute path or relative to the working directory', (t) => {
  const top = dir(t);
  assert.equal(readPromptFile('secret.txt', top), 'the secret');
  assert.equal(readPromptFile('../../secret.txt', path.join(top, 'data/prompts')), 'the secret');
  assert.equal(readPromptFile(path.join(top, 'secret.txt'), tmpdir()), 'the secret');
});

test('[J102] prompts ship with the program; a saved prompt or a file of the same name replaces one', (t) => {
  const top = dir(t);
  const data = path.join(top, 'data');
  const shipped = listShippedPrompts();
  assert.deepEqual(shipped, [
    'code-review.md',
    'commit-message.md',
    'explain-codebase.md',
    'release-notes.md',
    'write-tests.md',
  ]);
  for (const name of shipped) {
    const text = readSavedPrompt(data, name);
    assert.ok(text.length > 300, name);
    assert.equal(readPromptFile(name, top), text);
    assert.equal(readPromptFile(name.replace('.md', ''), top), text);
  }
  writeFileSync(path.join(data, 'prompts/code-review.md'), 'My own review.');
  assert.equal(readSavedPrompt(data, 'code-review.md'), 'My own review.');
  writeFileSync(path.join(top, 'code-review.md'), 'The review of this folder.');
  assert.equal(readPromptFile('code-review.md', top), 'The review of this folder.');
  assert.throws(
    () => readPromptFile('code-reveiw.md', top),
    (error) => error instanceof FairleadError && /code-review\.md, commit-message\.md/.test(error.hint ?? ''),
  );
});
