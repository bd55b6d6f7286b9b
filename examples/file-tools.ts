// Combines the parts of a coding agent by hand: a workspace, its tools, redaction of secrets, a policy, and approval by effect.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { Agent } from 'fairlead';
import { createRedactor, parsePolicy, permissionGate, policyGate, sessionGrants, withRedaction } from 'fairlead/guards';
import { calls, says, scriptedProvider } from 'fairlead/testing';
import { codingTools } from 'fairlead/tools';
import { localWorkspace } from 'fairlead/workspace';

const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-example-'));
writeFileSync(path.join(dir, 'notes.txt'), 'The key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.\n');

// The workspace is the only access of the tools to files and processes: nothing outside its roots can be read or written.
const workspace = localWorkspace({ roots: [dir] });
const redactor = createRedactor();
const tools = codingTools(workspace).map((tool) => withRedaction(tool, redactor));

// Calls with the effect `read` run; every other call needs approval, unless a rule of the policy allows or denies it.
const grants = sessionGrants();
const locate = (file: string): string => workspace.locate(file);
const byEffect = permissionGate({
  mode: () => 'ask',
  grants,
  tools: new Map(tools.map((tool) => [tool.name, tool])),
  locate,
});
const policy = parsePolicy(
  { rules: [{ allow: { tool: 'write_file', path: 'out/**' } }] },
  'the policy of this program',
);
const gate = policyGate(policy, { cwd: dir, home: homedir(), locate, grants, fallback: byEffect });

const model = scriptedProvider([
  calls('read_file', { path: 'notes.txt' }),
  calls('write_file', { path: 'out/summary.txt', content: 'One key.' }),
  calls('write_file', { path: 'notes.txt', content: '' }),
  says('I wrote out/summary.txt.'),
]);
const agent = new Agent({ model, tools, gates: [gate] });
const asked: string[] = [];
const result = await agent.run('Summarise notes.txt and empty it.', {
  onApproval: ({ tool, question }) => {
    console.log(question);
    asked.push(tool);
    return false;
  },
});

console.log(result.text);
assert.deepEqual(asked, ['write_file'], 'the policy allowed the other write, and reads need no approval');
assert.ok(existsSync(path.join(dir, 'out/summary.txt')));
assert.doesNotMatch(JSON.stringify(model.requests), /sk-ant-api03/, 'the model never saw the key');
rmSync(dir, { recursive: true });
