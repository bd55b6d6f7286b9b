// Starts a run in one process, lets it wait for approval in a file, and approves and resumes it in another process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, fileSession, pendingApprovals, tool } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const deploy = tool({
  name: 'deploy',
  description: 'Deploys a version.',
  inputSchema: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
  effect: 'external',
  needsApproval: true,
  execute: ({ version }) => `deployed ${version}`,
});
const model = scriptedProvider(({ results }) =>
  results.length === 0 ? calls('deploy', { version: '1.2.0' }) : says(`Done: ${results[0]}.`),
);
const agent = new Agent({ model, tools: [deploy] });

/** The first process: the run waits, and the process can end. */
async function start(file: string): Promise<void> {
  await using session = await agent.session({ store: fileSession(file) });
  const result = await session.run('Deploy version 1.2.0.');
  assert.equal(result.status, 'waiting');
  for (const { tool: name, input } of result.pendingApprovals) console.log(`waiting: ${name} ${JSON.stringify(input)}`);
}

/** Another process, minutes or days later: it approves the call and resumes the run. */
async function approve(file: string): Promise<void> {
  await using session = await agent.session({ store: fileSession(file) });
  for (const { id } of pendingApprovals(session.state)) await session.approve(id, { by: 'Ann' });
  const result = await session.run();
  assert.equal(result.status, 'success');
  console.log(result.text);
}

const [step, file] = process.argv.slice(2);
if (step === 'start' && file !== undefined) await start(file);
else if (step === 'approve' && file !== undefined) await approve(file);
else {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-example-'));
  const run = (name: string): string => {
    const args = [...process.execArgv, import.meta.filename, name, path.join(dir, 'deploy.jsonl')];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  assert.equal(run('start'), 'waiting: deploy {"version":"1.2.0"}\n');
  assert.equal(run('approve'), 'Done: deployed 1.2.0.\n');
  console.log('The run waited in one process and finished in another.');
  rmSync(dir, { recursive: true });
}
