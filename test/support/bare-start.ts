// The program on a machine where nothing is configured: an empty home, no variables, and no model server except those that a test names.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { families } from '../../src/providers/index.ts';
import { closedUrl } from '../../src/testing/index.ts';
import { bin, createProgramDirs, type ProgramDirs } from './program-dirs.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** The result of a run in a pipe. */
export type BareResult = { readonly code: number | null; readonly out: string; readonly err: string };

/** The program without any configuration. */
export type BareStart = ProgramDirs & {
  run(args: readonly string[], env?: Readonly<Record<string, string>>, input?: string): Promise<BareResult>;
  open(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Terminal>;
  /** The model that the next start uses, if one is remembered. */
  lastModel(): string | undefined;
};

const shellScript = '"$@"; echo "(left with $?)"; read _';

/** Creates an empty home. The default ports of this machine are replaced by a closed one, so that a server of the developer is not found. */
export async function createBareStart(t: TestContext): Promise<BareStart> {
  const dirs = createProgramDirs(t);
  const closed = await closedUrl();
  const away = Object.fromEntries(
    families
      .filter(({ local, baseUrl }) => local && baseUrl !== '')
      .map(({ urlVariables }) => [urlVariables.at(-1), closed]),
  ) as Record<string, string>;
  const env = { ...dirs.env, ...away };
  const self: BareStart = {
    ...dirs,
    env,
    run(args, more = {}, input = '') {
      const child = spawn(process.execPath, [bin, ...args], { cwd: dirs.cwd, env: { ...env, ...more } });
      const { promise, resolve } = Promise.withResolvers<BareResult>();
      let out = '';
      let err = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
      child.stdin.on('error', () => undefined).end(input);
      child.on('close', (code) => resolve({ code, out, err }));
      return promise;
    },
    open: (args, more = {}) =>
      openTerminal(t, ['sh', '-c', shellScript, 'sh', process.execPath, bin, ...args], {
        columns: 110,
        rows: 32,
        cwd: dirs.cwd,
        env: { ...env, ...more },
      }),
    lastModel() {
      const file = dirs.state('previous_model_name');
      return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
    },
  };
  return self;
}
