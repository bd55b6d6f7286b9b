// The program started as `start-harness`: an empty home, no variables but PATH, HOME and the address of a scripted Ollama server.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../src/core/index.ts';
import {
  scriptedServer,
  type RecordedRequest,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../src/testing/index.ts';
import { bin, defaultModels, shellScript, startProcess, type ProgramResult } from './cli-harness.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** The executable beside the one that tests start. */
export const harnessBin: string = bin.replace(/bin\.(ts|js)$/, 'start-harness.$1');

/** The program, its home and its server. */
export type StartHarness = {
  readonly home: string;
  readonly cwd: string;
  readonly server: ScriptedServer;
  readonly state: (...names: string[]) => string;
  readonly data: (...names: string[]) => string;
  /** The requests for a model answer. */
  modelRequests(): readonly RecordedRequest[];
  /** Runs the program in a pipe to its end. */
  run(args: readonly string[], options?: StartOptions): Promise<ProgramResult>;
  /** Opens the program in a terminal. */
  open(args: readonly string[], options?: StartOptions): Promise<Terminal>;
};

/** More variables, the input of a pipe, and another program to start. */
export type StartOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly file?: string;
};

/** Creates an empty home and a server that answers like Ollama. */
export async function createStartHarness(
  t: TestContext,
  script: Script<JsonObject> = ({ prompt }) => `You said: ${prompt}`,
  options: ScriptedServerOptions = {},
): Promise<StartHarness> {
  const server = await scriptedServer(script, { models: defaultModels, ...options });
  t.after(() => server.close());
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'start-harness-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const cwd = path.join(home, 'work');
  mkdirSync(cwd);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, OLLAMA_API_URL: server.url };
  const isMac = process.platform === 'darwin';
  const at = (base: string, names: readonly string[]): string =>
    path.join(home, isMac ? 'Library/Application Support' : base, 'jayjaders-llm-harness', ...names);
  return {
    home,
    cwd,
    server,
    state: (...names) => at('.local/state', names),
    data: (...names) => at('.local/share', names),
    modelRequests: () => server.requests.filter(({ format }) => format !== undefined),
    run: (args, more = {}) =>
      startProcess([more.file ?? harnessBin, ...args], { cwd, env: { ...env, ...more.env } }, more.input).ended,
    open: (args, more = {}) =>
      openTerminal(t, ['sh', '-c', shellScript, 'sh', process.execPath, more.file ?? harnessBin, ...args], {
        columns: 100,
        cwd,
        env: { ...env, ...more.env },
      }),
  };
}
