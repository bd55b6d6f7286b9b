// Changes of files by a later process of a session: what the session read counts as read, with its content.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import type { RunState, ToolContext } from '../core/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { applyPatch } from './patch/apply-patch.ts';
import { editFile } from './edit-file.ts';
import { writeFile } from './write-file.ts';

test('[A24] a later process of a session may change a file that the session read, unless the file changed since', async (t) => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-changes-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const file = path.join(root, 'a.txt');
  const patch = { paths: ['a.txt'], patch: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n' };
  const readAs = (content: string, by = 'read_file'): Partial<ToolContext> => {
    const files = [{ path: file, tool: by, changed: false, content: hash('sha256', content) }];
    return { state: { files } as unknown as RunState };
  };
  for (const [createTool, input] of [
    [editFile, { path: 'a.txt', old_string: 'one', new_string: 'two' }],
    [writeFile, { path: 'a.txt', content: 'two\n' }],
    [applyPatch, patch],
  ] as const) {
    // Another workspace is another process: it has read nothing itself.
    const tool = createTool(localWorkspace({ roots: [root] }));
    const run = async (context: Partial<ToolContext>): Promise<unknown> => tool.execute(input, context as ToolContext);
    writeFileSync(file, 'one\n');
    await assert.rejects(run(readAs('other\n')), /has changed since it was read/, tool.name);
    await assert.rejects(run({}), /has not been read yet/, tool.name);
    // The result of an MCP server can have the same shape.
    for (const by of ['mcp__files__read', 'use_tool'])
      await assert.rejects(run(readAs('one\n', by)), /has not been read yet/, `${tool.name} after ${by}`);
    assert.equal(readFileSync(file, 'utf8'), 'one\n');
    await run(readAs('one\n'));
    assert.equal(readFileSync(file, 'utf8'), 'two\n', tool.name);
  }
});
