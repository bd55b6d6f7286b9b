// Takes the screenshot of docs/worktrees.md: a merge with a conflict in a real terminal, as an SVG file. Run: node scripts/screenshots-worktrees.ts
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openWorktrees } from '../src/coding-agent/worktrees/index.ts';
import { createRepository, git } from '../test/support/git-repository.ts';
import { openTerminal } from '../test/support/terminal.ts';
import { renderSvg } from './screenshots/ansi-to-svg.ts';

const root = path.resolve(import.meta.dirname, '..');
const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-screens-')));
const app = path.join(home, 'harbour');
const columns = 100;

const write = (folder: string, hour: string): void =>
  writeFileSync(
    path.join(folder, 'tide.ts'),
    `export function tide(hour: number): string {\n  return ${hour} ? "low" : "high";\n}\n`,
  );

createRepository(app);
write(app, 'hour > 6');
git(app, 'add', '-A');
git(app, 'commit', '-qm', 'tide');
const worktrees = openWorktrees({ stateFolder: path.join(home, 'state/fairlead') });
const { record, cwd } = await worktrees.create({ cwd: app, name: 'fix-tide', purpose: 'run 12' });
write(cwd, 'hour >= 6');
mkdirSync(path.join(cwd, 'docs'));
writeFileSync(path.join(cwd, 'docs/tide.md'), 'Hour 6 is low.\n');
await worktrees.finish(record.id);
write(app, 'hour > 5');
git(app, 'commit', '-qam', 'five');

const cleanups: (() => unknown)[] = [];
const program = `'${process.execPath}' '${path.join(root, 'src/cli/bin.ts')}'`;
const commands = ['worktree list', 'worktree merge fix-tide', 'worktree merge fix-tide --keep-conflicts'];
const script = commands.map((words) => `echo '$ fairlead ${words}'; ${program} ${words}; echo`).join('; ');
try {
  const terminal = await openTerminal(
    { after: (work) => void cleanups.push(work as () => unknown) },
    ['sh', '-c', `${script}; sleep 30`],
    {
      columns,
      rows: 30,
      cwd: app,
      env: {
        HOME: home,
        XDG_STATE_HOME: path.join(home, 'state'),
        XDG_DATA_HOME: path.join(home, 'data'),
        XDG_CONFIG_HOME: path.join(home, 'config'),
      },
    },
  );
  await terminal.waitFor(/\[y\/N\]|\(y\/n\)|discard fix-tide/i);
  const seen = (await terminal.screen({ colors: true })).replaceAll('␛', '\u001b');
  writeFileSync(
    path.join(root, 'docs/screens/worktree-conflict.svg'),
    renderSvg(seen.replaceAll(home, '~').trimEnd(), columns),
  );
  console.log(await terminal.screen({}));
} finally {
  for (const clean of cleanups) await clean();
  rmSync(home, { recursive: true, force: true });
}
