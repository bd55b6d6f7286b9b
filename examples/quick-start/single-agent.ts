// A complete single agent: a model, a conversation that it keeps, and three tools that read files, write files and run commands.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';
import { readFile, runCommand, writeFile } from 'fairlead/tools';
import { localWorkspace } from 'fairlead/workspace';

const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-single-'));
const source = 'console.log([1, 1, 2, 3, 5, 8, 13, 21, 34, 55].join(" "));\n';
const model = scriptedProvider([
  calls('write_file', { path: 'fibonacci.mjs', content: source }),
  calls('bash_exec', { command: `"${process.execPath}" fibonacci.mjs` }),
  calls('read_file', { path: 'fibonacci.mjs' }),
  says('fibonacci.mjs prints 10 numbers.'),
  says('It has one line.'),
]);

const workspace = localWorkspace({ roots: [dir] });
const agent = new Agent({
  model,
  instructions: 'You write small programs and run them.',
  tools: [readFile(workspace), writeFile(workspace), { ...runCommand(workspace), name: 'bash_exec' }],
  settings: { maxOutputTokens: 4096 },
});
await using session = await agent.session();
const result = await session.run('Create a script that prints the Fibonacci sequence up to 10 numbers.');
const next = await session.run('How long is it?');

console.log(result.text, next.text);
assert.equal(readFileSync(path.join(dir, 'fibonacci.mjs'), 'utf8'), source);
assert.deepEqual(
  model.requests[0]?.tools.map(({ name }) => name),
  ['read_file', 'write_file', 'bash_exec'],
);
assert.ok(model.requests.every(({ settings }) => settings.maxOutputTokens === 4096));
const history = JSON.stringify(session.messages);
assert.match(history, /Written 59 bytes to fibonacci\.mjs/);
assert.match(history, /"text":"1 1 2 3 5 8 13 21 34 55\\n\[Exit code: 0\.\]"/);
assert.equal(session.messages.length, 10, 'the second question continues the conversation');
rmSync(dir, { recursive: true });
