// The agent of the terminal in a program: it edits files in a sandbox, under a policy. A scripted model answers, so that this runs anywhere.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { codingAgent } from 'fairlead/coding-agent';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-example-'));
const model = scriptedProvider([
  calls('write_file', { path: 'hello.txt', content: 'Hello!' }),
  says('I wrote hello.txt.'),
]);
const dirs = { stateDir: path.join(cwd, '.state'), configDir: path.join(cwd, '.config') };

const policy = { rules: [{ deny: { path: '.env' }, why: 'It has keys in it.' }] };
await using agent = await codingAgent({ ...dirs, cwd, model, policy, approve: ({ tool }) => tool === 'write_file' });
const result = await agent.run('Greet the reader in hello.txt.');
console.log(result.text);

assert.equal(readFileSync(path.join(cwd, 'hello.txt'), 'utf8'), 'Hello!');
