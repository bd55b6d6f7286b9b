// The program in folders of its own, which every other starter of it stands on; and run there to its end, where no server of the test is needed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** The program's source. */
export const source: string = path.resolve(import.meta.dirname, '../../src/cli/bin.ts');

/** The program as tests start it: what `npm run check` has just built, which starts in a fraction of the time, or its source. */
export const bin: string = process.env['FAIRLEAD_TEST_BIN'] ?? source;

/** Folders for the program, and the environment that leads it there. */
export type ProgramDirs = {
  /** The person's home, with everything else in it. */
  readonly home: string;
  /** The working folder, apart from everything the program keeps. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A file or folder the program keeps, as `state('models.jsonl')`. */
  readonly state: (...names: string[]) => string;
  readonly data: (...names: string[]) => string;
  readonly config: (...names: string[]) => string;
};

/** New folders, removed with the test. */
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

/** Puts files into a folder, by their paths in it. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** What a run of the program came to. */
export type ProgramResult = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** Folders, and the way to run the program there; the test itself stands still meanwhile, and so would a server of it. */
export type ProgramHome = ProgramDirs & {
  readonly fairlead: (args: readonly string[], env?: Readonly<Record<string, string>>) => ProgramResult;
};

/** A new home, removed with the test. */
export function createProgramHome(t: TestContext): ProgramHome {
  const folders = createProgramDirs(t);
  return {
    ...folders,
    fairlead(args, env = {}) {
      const options = { cwd: folders.cwd, env: { ...folders.env, ...env }, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], options);
      return { status, stdout, stderr };
    },
  };
}
