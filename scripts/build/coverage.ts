// Collects the functions that a short run calls, with V8 coverage of the built program while it answers a prompt with one command.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { callsThenAnswer, scriptedServer } from '../../src/testing/index.ts';
import type { SourceRange } from './eager-compile.ts';

/** The coverage file that V8 writes when a process ends. */
type V8Coverage = {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
};

/** Returns the functions that a short run of the program in this folder calls, by file. */
export async function collectCalledFunctions(folder: string): Promise<ReadonlyMap<string, readonly SourceRange[]>> {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-build-')));
  const counts = path.join(home, 'counts');
  mkdirSync(path.join(home, 'work'));
  try {
    await using server = await scriptedServer(callsThenAnswer(1, 'run_command', { command: 'echo yes' }, 'Done.'), {
      models: [{ id: 'm', context: 100_000, tools: true }],
    });
    const fairlead = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> =>
      runBuiltProgram([path.join(folder, 'bin.js'), '--one-shot', ...args], path.join(home, 'work'), {
        ...createIsolatedEnv(home),
        HARNESS_INFERENCE_PROVIDER: 'lm-studio',
        OLLAMA_API_URL: server.url,
        ...env,
      });
    await fairlead(['--refresh-models']);
    await fairlead(['--model', 'm', '--stream', '--auto-approve', '--no-sandbox', '--prompt', 'Run it.'], {
      NODE_V8_COVERAGE: counts,
    });
    return parseCoverage(counts, realpathSync(folder));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Keeps all state of the program in one folder, and reads no file of the building user. */
const createIsolatedEnv = (home: string): Readonly<Record<string, string>> => ({
  PATH: process.env['PATH'] ?? '',
  ...(process.env['SystemRoot'] === undefined ? {} : { SystemRoot: process.env['SystemRoot'] }),
  HOME: home,
  USERPROFILE: home,
  ...Object.fromEntries(['STATE', 'DATA', 'CONFIG', 'CACHE'].map((each) => [`XDG_${each}_HOME`, `${home}/${each}`])),
  NODE_DISABLE_COMPILE_CACHE: '1',
});

async function runBuiltProgram(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  // A process that hangs may ignore SIGTERM.
  const ends = { timeout: 120_000, killSignal: 'SIGKILL' } as const;
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], ...ends });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject).on('close', resolve);
  const code = await promise;
  if (code !== 0) throw new Error(`The built program exited with code ${code}: ${said}`);
}

function parseCoverage(counts: string, folder: string): ReadonlyMap<string, readonly SourceRange[]> {
  const found = readdirSync(counts).flatMap(
    (name) => (JSON.parse(readFileSync(path.join(counts, name), 'utf8')) as V8Coverage).result,
  );
  const own = found.filter(
    ({ url }) => url.startsWith('file:') && !path.relative(folder, fileURLToPath(url)).startsWith('..'),
  );
  return new Map(
    own.map(({ url, functions }) => [
      fileURLToPath(url),
      functions
        .flatMap(({ ranges: [whole] }) => (whole && whole.count > 0 ? [whole] : []))
        .map(({ startOffset, endOffset }) => ({ start: startOffset, end: endOffset })),
    ]),
  );
}
