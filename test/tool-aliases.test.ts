// Tools under their alias names, in the real program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { Json } from '../src/core/index.ts';
import { calls, says, type ScriptedResponse } from '../src/testing/index.ts';
import { requestMessages, createProgram, requestToolNames } from './support/cli-harness.ts';

/** Makes these calls one after the other, then answers. */
const scriptCalls =
  (...steps: readonly (readonly [string, Json])[]) =>
  ({ results }: { readonly results: readonly string[] }): ScriptedResponse => {
    const [tool, input] = steps[results.length] ?? [];
    return tool === undefined ? says('All done.') : calls(tool, input ?? {});
  };

const runArgs = ['--one-shot', '--auto-approve', '--no-sandbox', '--prompt'];

test('[P39, P40, P41, P42, P77] the prompt is sent, each call runs and its result is sent back, until the model answers with text', async (t) => {
  const script = scriptCalls(
    ['file_write', { path: 'a.txt', content: 'hello\n' }],
    ['bash_exec', { command: 'echo out; echo err >&2; exit 3' }],
    ['bash_exec', { command: 'echo fine' }],
    ['file_read', { path: 'nowhere.txt' }],
  );
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  const ended = await program.run([...runArgs, 'Do it.']);
  assert.deepEqual([ended.code, ended.out.trim()], [0, 'All done.']);
  assert.equal(readFileSync(path.join(program.cwd, 'a.txt'), 'utf8'), 'hello\n');
  const told = requestMessages(program.modelRequests().at(-1)).filter(({ role }) => role !== 'system');
  assert.deepEqual(
    told.map(({ role }) => role),
    ['user', ...Array.from({ length: 4 }, () => ['assistant', 'tool']).flat()],
  );
  const [wrote, ran, succeeded, failed] = told.flatMap(({ role, content }) =>
    role === 'tool' ? [String(content)] : [],
  );
  assert.match(wrote ?? '', /^Written 6 bytes to a\.txt/);
  assert.match(ran ?? '', /out\nerr\n\[Exit code: 3\.\]/);
  assert.match(succeeded ?? '', /fine\n\[Exit code: 0\.\]/);
  assert.match(failed ?? '', /^Error: .*nowhere\.txt/);
});

test('[P62, P66] every documented tool exists under its name, and arguments that do not match its schema are refused with the reason', async (t) => {
  const program = await createProgram(
    t,
    scriptCalls(['file_write', { path: 7 }], ['file_list', {}], ['file_search', { pattern: 'x' }]),
  );
  await program.seedModels('qwen3');
  await program.run([...runArgs, 'Try.']);
  const results = requestMessages(program.modelRequests().at(-1)).flatMap(({ role, content }) =>
    role === 'tool' ? [String(content)] : [],
  );
  assert.match(results[0] ?? '', /do not fit the schema of write_file/);
  assert.doesNotMatch(results[1] ?? '', /There is no tool/);
  assert.doesNotMatch(results[2] ?? '', /There is no tool/);
  assert.ok(requestToolNames(program.modelRequests()[0]).includes('run_command'));
});
