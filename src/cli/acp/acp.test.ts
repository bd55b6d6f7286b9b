// The real program driven by the protocol's own client: what an editor sees, is asked, and leaves behind.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { methods } from '@agentclientprotocol/sdk';
import { begin, openEditor, say, wordsIn } from '../../../test/support/editor.ts';
import { program, until } from '../../../test/support/live-program.ts';
import { calls, says, thinks } from '../../testing/index.ts';

test('an editor is told what it talks to, and a prompt with an edit is asked about, shown as a diff, and answered', async (t) => {
  const made = await program(t, [
    [thinks('Let me see.'), calls('read_file', { path: 'a.txt' })],
    calls('edit_file', { path: 'a.txt', old_string: 'one', new_string: 'two' }),
    says('It says two now.'),
  ]);
  await made.known('qwen3');
  const file = path.join(made.cwd, 'a.txt');
  writeFileSync(file, 'top\none\nend\n');
  const editor = openEditor(t, made, () => 'once');
  const hello = await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  assert.deepEqual(
    [hello.protocolVersion, hello.agentInfo?.name, hello.agentCapabilities?.loadSession, hello.authMethods],
    [1, 'fairlead', true, []],
  );
  const { sessionId, modes, configOptions } = await editor.agent.request(methods.agent.session.new, {
    cwd: made.cwd,
    mcpServers: [],
  });
  assert.equal(modes?.currentModeId, 'ask');
  assert.deepEqual(
    configOptions?.map(({ id, currentValue }) => [id, currentValue]),
    [
      ['mode', 'ask'],
      ['model', 'qwen3'],
    ],
  );
  assert.equal(await say(editor, sessionId, 'Make it two.'), 'end_turn');
  assert.equal(readFileSync(file, 'utf8'), 'top\ntwo\nend\n');
  const told = editor.told(sessionId);
  assert.equal(wordsIn(told, 'agent_thought_chunk'), 'Let me see.');
  assert.equal(wordsIn(told, 'agent_message_chunk'), 'It says two now.');
  editor.child.stdin?.end();
  assert.equal(await editor.ended, 0);
});
