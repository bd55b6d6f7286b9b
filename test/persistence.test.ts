// Sessions persist between runs of the real program, in an empty home.
import assert from 'node:assert/strict';
import test from 'node:test';
import { requestMessages, createProgram } from './support/cli-harness.ts';

test('[P65] a later run continues the conversation of an earlier one, by --continue and by name', async (t) => {
  const program = await createProgram(t, ({ index }) => `Answer ${index}.`);
  const first = await program.run(['--model', 'ollama/qwen3', 'My name is Ada.'], {
    env: { OLLAMA_API_URL: program.server.url },
  });
  assert.deepEqual([first.code, first.out], [0, 'Answer 0.\n'], first.err);
  await program.seedModels('qwen3');
  program.server.clearRequests();
  const second = await program.call(['--continue', 'What is my name?']);
  assert.equal(second.code, 0, second.err);
  const said = (): readonly unknown[] =>
    requestMessages(program.modelRequests().at(-1))
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => `${String(role)}: ${String(content)}`);
  assert.deepEqual(said(), ['user: My name is Ada.', 'assistant: Answer 0.', 'user: What is my name?']);
  const listed = await program.call(['sessions', 'list', '--json']);
  const [session, ...others] = JSON.parse(listed.out) as { readonly name: string }[];
  assert.deepEqual(others, [], 'one conversation');
  await program.call(['--resume', session?.name ?? '', 'And again?']);
  assert.equal(said().length, 5);
  assert.equal(said().at(-1), 'user: And again?');
});
