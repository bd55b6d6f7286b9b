// The program in its own directories, for all other helpers that start it; and run there to its end if the test needs no server.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** The source of the program. */
export const source: string = path.resolve(import.meta.dirname, '../../src/cli/bin.ts');

/** The program as tests start it: the build of `npm run check`, which starts faster, or the source. */
export const bin: string = process.env['FAIRLEAD_TEST_BIN'] ?? source;

/** Directories for the program, and the environment that points to them. */
export type ProgramDirs = {
  /** The home directory, which contains all others. */
  readonly home: string;
  /** The working directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The path of a file or directory of the program, as `state('models.jsonl')`. */
  readonly state: (...names: string[]) => string;
  readonly data: (...names: string[]) => string;
  readonly config: (...names: string[]) => string;
};

const sandboxName = process.env['FAIRLEAD_SANDBOX'];

/** Creates directories that are removed with the test. */
export function createProgramDirs(t: Pick<TestContext, 'after'>): ProgramDirs {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-home-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const cwd = path.join(home, 'work');
  mkdirSync(cwd);
  return {
    home,
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      ...(sandboxName === undefined ? {} : { FAIRLEAD_SANDBOX: sandboxName }),
      HOME: home,
      XDG_STATE_HOME: path.join(home, 'state'),
      XDG_DATA_HOME: path.join(home, 'data'),
      XDG_CONFIG_HOME: path.join(home, 'config'),
      XDG_CACHE_HOME: path.join(home, 'cache'),
    },
    state: (...names) => path.join(home, 'state/fairlead', ...names),
    data: (...names) => path.join(home, 'data/fairlead', ...names),
    config: (...names) => path.join(home, 'config/fairlead', ...names),
  };
}

/** Writes files to a directory, by their relative paths. */
export function writeFiles(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** The result of a run of the program. */
export type ProgramResult = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** The directories, and a function that runs the program there synchronously: a server in the test process cannot answer meanwhile. */
export type ProgramHome = ProgramDirs & {
  readonly fairlead: (args: readonly string[], env?: Readonly<Record<string, string>>) => ProgramResult;
};

/** Creates a home that is removed with the test. */
export function createProgramHome(t: TestContext): ProgramHome {
  const dirs = createProgramDirs(t);
  return {
    ...dirs,
    fairlead(args, env = {}) {
      const options = { cwd: dirs.cwd, env: { ...dirs.env, ...env }, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], options);
      return { status, stdout, stderr };
    },
  };
}
