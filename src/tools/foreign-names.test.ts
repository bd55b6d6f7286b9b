// Names of tools in the agent files of other programs: what they allow and forbid, and which tools the beginning of a name selects.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveForeignTools, selectsTool } from './foreign-names.ts';

test('the beginning of a name selects the tools of one MCP server only', () => {
  for (const name of ['mcp__docs', 'mcp__docs__*', 'docs/*', 'mcp__docs*']) {
    const [pattern = ''] = resolveForeignTools(name, 'allow');
    const tools = ['mcp__docs__read', 'mcp__docs2__read', 'mcp__other__docs', 'write_file', 'mcp__docs'];
    assert.deepEqual(
      tools.map((tool) => selectsTool(pattern, tool)),
      [true, false, false, false, false],
      name,
    );
  }
  assert.deepEqual(resolveForeignTools('docs/read', 'allow'), ['mcp__docs__read']);
  assert.ok(selectsTool('read_file', 'read_file') && !selectsTool('read', 'read_file'));
});

test('a forbidden tool forbids all with the same effect, and an allowed one allows no more than its own', () => {
  for (const name of ['Bash', 'shell', 'execute']) {
    assert.ok(!resolveForeignTools(name, 'allow').includes('run_code'), name);
    for (const tool of ['run_command', 'run_code', 'git_change'])
      assert.ok(resolveForeignTools(name, 'forbid').includes(tool), `${name}: ${tool}`);
  }
  assert.deepEqual(resolveForeignTools('Edit', 'allow'), ['edit_file', 'apply_patch']);
  assert.ok(resolveForeignTools('Edit', 'forbid').includes('write_file'));
  for (const name of ['__proto__', 'constructor', 'my_tool'])
    assert.deepEqual(resolveForeignTools(name, 'forbid'), [name]);
});
