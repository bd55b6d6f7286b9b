// Tests that an editor is asked about changed instruction files before the first answer of a session.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { methods } from '@agentclientprotocol/sdk';
import { startAcpClient, sendPrompt } from '../../../test/support/acp-client.ts';
import { createProgram } from '../../../test/support/cli-harness.ts';
import { writeFiles } from '../../../test/support/program-dirs.ts';

for (const answer of ['once', 'no'] as const)
  test(`a permission request shows a changed AGENTS.md, and the new text counts only after a yes: ${answer}`, async (t) => {
    const program = await createProgram(t);
    await program.seedModels('qwen3');
    const editor = startAcpClient(t, program, () => answer, ['--auto-approve', '--no-sandbox']);
    await editor.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const begin = async (): Promise<string> =>
      (await editor.agent.request(methods.agent.session.new, { cwd: program.cwd, mcpServers: [] })).sessionId;
    const sent = (): string => JSON.stringify(program.modelRequests().at(-1)?.body);
    writeFiles(program.cwd, { '.git/HEAD': '', 'AGENTS.md': 'Use tabs.\n' });
    assert.equal(await sendPrompt(editor, await begin(), 'hello'), 'end_turn');
    assert.match(sent(), /Use tabs\./);
    assert.equal(editor.permissionRequests.length, 0, 'the first version counts');

    writeFileSync(path.join(program.cwd, 'AGENTS.md'), 'Use spaces.\n');
    assert.equal(await sendPrompt(editor, await begin(), 'hello'), 'end_turn');
    const [question, ...others] = editor.permissionRequests;
    assert.equal(others.length, 0);
    assert.match(String(question?.toolCall.title), /^The instructions of this project changed\. Use the new text\?/);
    assert.match(JSON.stringify(question?.toolCall.content), /AGENTS\.md.*-Use tabs\.\\n\+Use spaces\./);
    assert.match(sent(), answer === 'once' ? /Use spaces\./ : /Use tabs\./);
    assert.doesNotMatch(sent(), answer === 'once' ? /Use tabs\./ : /Use spaces\./);

    assert.equal(await sendPrompt(editor, await begin(), 'hello'), 'end_turn');
    assert.equal(editor.permissionRequests.length, 1, 'once for each content');
  });
