// What is measured of the git tool: status and diff of a repository, as the tool runs them in the sandbox, over plain git.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import type * as Guards from '../src/guards/index.ts';
import type * as Tools from '../src/tools/index.ts';
import { isObject, type ToolContext } from '../src/core/index.ts';
import type * as Workspaces from '../src/workspace/index.ts';
import type { Subject } from './subject-process.ts';

const dist = path.join(import.meta.dirname, '..', 'dist');
const importBuilt = <T>(name: string): Promise<T> => import(path.join(dist, `${name}.js`)) as Promise<T>;

const fileCount = 200;
const operations = ['status', 'diff'] as const;

/** A repository of 200 files in 20 folders, every tenth of them changed since its commit. */
function createRepository(): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-bench-git-')));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  const git = (...args: readonly string[]): unknown => execFileSync('git', args, { cwd: root, stdio: 'ignore' });
  const write = (file: number, text: string): void => {
    const folder = path.join(root, `folder-${file % 20}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `${file}.txt`), `${text}\n`.repeat(50));
  };
  for (let file = 0; file < fileCount; file++) write(file, `line of file ${file}`);
  git('init', '-q', '.');
  git('add', '-A');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.test', 'commit', '-qm', 'first');
  for (let file = 0; file < fileCount; file += 10) write(file, 'changed line');
  return root;
}

/** Git as a user runs it. */
export const createPlainGitSubject = (): Subject => ({
  async git(times) {
    const cwd = createRepository();
    for (let i = 0; i < times; i++)
      for (const operation of operations)
        await new Promise((resolve, reject) => {
          spawn('git', ['--no-pager', operation, ...(operation === 'status' ? ['--short', '--branch'] : ['HEAD'])], {
            cwd,
            stdio: ['ignore', 'ignore', 'ignore'],
          })
            .on('error', reject)
            .on('close', resolve);
        });
    return times;
  },
});

/** The git tool: in bubblewrap, or as the user. Throws where there is no bubblewrap. */
export const createGitToolSubject = (kind: 'none' | 'bubblewrap'): Subject => ({
  async git(times) {
    const [{ localWorkspace }, { chooseSandbox, withSandbox }, { deferredTools }] = await Promise.all([
      importBuilt<typeof Workspaces>('workspace'),
      importBuilt<typeof Guards>('guards'),
      importBuilt<typeof Tools>('tools'),
    ]);
    const root = createRepository();
    const workspace = localWorkspace({ roots: [root] });
    const paths = { roots: [root], home: homedir(), path: process.env['PATH'] ?? '' };
    const sandbox = await chooseSandbox({ ...paths, ...(kind === 'none' ? { mode: 'none' } : {}) });
    if (sandbox.name !== kind) throw new Error(sandbox.description);
    const read = withSandbox(workspace, sandbox, { access: 'read' });
    const tools = deferredTools({ workspace, git: { read, change: workspace, isConfined: kind !== 'none' } });
    const git = tools.find(({ name }) => name === 'git');
    if (!git) throw new Error('There is no git tool.');
    const context = { signal: new AbortController().signal } as ToolContext;
    for (let i = 0; i < times; i++)
      for (const operation of operations) {
        const output = await git.execute({ operation }, context);
        if (isObject(output) && output['failed'] === true) throw new Error(`${kind}: git failed`);
      }
    return times;
  },
});
