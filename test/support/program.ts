// The program itself, run to its end in a home of its own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

const bin = path.join(import.meta.dirname, '../../src/cli/bin.ts');

/** What a run of the program came to. */
export type Outcome = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** A home for the program, its data folder, and the way to run it there. */
export type Home = {
  readonly home: string;
  readonly data: string;
  readonly fairlead: (args: readonly string[], env?: Readonly<Record<string, string>>) => Outcome;
};

/** A new home, removed with the test. */
export function homeFor(t: TestContext): Home {
  const home = mkdtempSync(path.join(tmpdir(), 'fairlead-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const own = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  return {
    home,
    data: path.join(home, 'fairlead'),
    fairlead(args, env = {}) {
      const options = { cwd: home, env: { ...own, ...env }, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], options);
      return { status, stdout, stderr };
    },
  };
}
