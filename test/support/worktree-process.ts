// A process that creates, merges or discards one worktree; tests kill it between its steps. Prints what remains, as JSON.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { openWorktrees } from '../../src/coding-agent/worktrees/index.ts';

const [action = '', root = '', state = ''] = process.argv.slice(2);
const worktrees = openWorktrees({ stateFolder: state });
const actions: Readonly<Record<string, () => Promise<unknown>>> = {
  create: () => worktrees.create({ cwd: root, name: 'work' }),
  merge: () => worktrees.merge('work'),
  discard: () => worktrees.discard('work'),
};
let failure: string | undefined;
try {
  await actions[action]?.();
} catch (error) {
  failure = String(error);
}
const folder = path.join(state, 'worktrees');
console.log(JSON.stringify({ failure, left: existsSync(folder) ? readdirSync(folder) : [] }));
