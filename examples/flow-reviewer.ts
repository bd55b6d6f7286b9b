// A run without a user: a second model reviews a call that the flow policy stopped, from the words of the user and the call alone.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { codingAgent } from 'fairlead/coding-agent';
import { calls, scriptedProvider } from 'fairlead/testing';

const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-review-'));
writeFileSync(path.join(cwd, 'notes.txt'), 'The status page is https://status.example/now\n');

// Both stand for models. The reviewer answers with one word first, then with its judgement; a table in code decides.
const model = scriptedProvider([
  calls('read_file', { path: 'notes.txt' }),
  calls('run_command', { command: 'echo https://status.example/now' }),
  'It is https://status.example/now.',
]);
const reviewer = scriptedProvider([
  'maybe',
  '{"reason": "The user names the file.", "quotation": "that notes.txt names", "authorisation": "explicit", "risk": "low"}',
]);

await using agent = await codingAgent({
  cwd,
  model,
  reviewer,
  approve: 'auto',
  sandbox: 'none',
  stateDir: path.join(cwd, '.state'),
  configDir: path.join(cwd, '.config'),
});
await using session = await agent.session();
await session.run('Echo the address of the status page that notes.txt names');

for await (const events of session.log.read())
  for (const event of events)
    if (event.type === 'annotation-added' && event.key === 'flow-review') console.log(JSON.stringify(event.value));
assert.equal(reviewer.requests.length, 2);
assert.doesNotMatch(JSON.stringify(reviewer.requests), /The status page is/, 'it saw nothing that a tool returned');
