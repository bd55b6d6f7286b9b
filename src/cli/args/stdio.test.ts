// Tests that messages of commands that speak a protocol cannot control the terminal.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { createProgram } from '../../../test/support/cli-harness.ts';
import { writeFiles } from '../../../test/support/program-dirs.ts';

const lines = (...messages: readonly object[]): string =>
  messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');

test('[attack 12] protocol commands escape invisible characters in their warnings', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const cwd = path.join(program.cwd, 'a\u001b[2Jb');
  writeFiles(cwd, { '.env': 'OPENAI_BASE_URL=http://elsewhere.test\n' });
  const editor = lines(
    { id: 1, method: 'initialize', params: { protocolVersion: 1 } },
    { id: 2, method: 'session/new', params: { cwd, mcpServers: [] } },
  );
  for (const [args, input] of [
    [['acp'], editor],
    [['mcp', 'serve'], ''],
  ] as const) {
    const { code, err } = await program.run(args, { cwd, input });
    assert.equal(code, 0, err);
    assert.match(err, /OPENAI_BASE_URL in .*a␛\[2Jb.* is not used/);
    const misused = await program.run([...args, '--\u001b[2J']);
    assert.equal(misused.code, 2);
    assert.match(misused.err, /--␛\[2J/);
    for (const told of [err, misused.err]) assert.ok(!told.includes('\u001b'), told);
  }
});
