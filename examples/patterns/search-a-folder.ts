// Tree search over changes of a folder: an agent proposes, a test decides, failed branches are rolled back, and the folder changes only at the end.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent } from 'fairlead';
import { createFolderWorkspace, searchTree, type FileAction, type FolderWorkspace } from 'fairlead/patterns';
import { says, scriptedProvider } from 'fairlead/testing';

const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-example-'));
const file = path.join(folder, 'sum.mjs');
writeFileSync(file, 'export const sum = (a, b) => a - b;\n');

const proposal = (sign: string) =>
  says(JSON.stringify({ actions: [{ type: 'replace', path: 'sum.mjs', old: 'a - b', new: `a ${sign} b` }] }));
const coder = new Agent({ name: 'coder', model: scriptedProvider([proposal('*'), proposal('+')], { model: 'gpt-5' }) });

try {
  const result = await searchTree<FileAction, FolderWorkspace>({
    task: 'sum(1, 2) must be 3.',
    workspace: await createFolderWorkspace({ folder }),
    proposer: coder,
    check: {
      name: 'test',
      asksModel: false,
      run: ({ workspace }) => {
        const isRight = readFileSync(path.join(workspace.folder, 'sum.mjs'), 'utf8').includes('a + b');
        return {
          value: isRight ? 1 : 0,
          solved: isRight,
          dead: !isRight,
          detail: isRight ? '' : 'sum(1, 2) is not 3.',
        };
      },
    },
    adopt: true,
    signal: AbortSignal.timeout(60_000),
    budget: { calls: 10 },
  });
  for (const { id, actions, value, detail } of result.states) console.log(id, actions, value, detail);
  assert.deepEqual([result.solved, result.adopted, result.spent.calls], [true, true, 2]);
  assert.match(readFileSync(file, 'utf8'), /a \+ b/);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
