// What is measured of tools: calls through the whole loop, gate and log, and commands in each kind of sandbox, over the bare system call.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import type * as Agent from '../src/agent/index.ts';
import type * as Guards from '../src/guards/index.ts';
import type { Json, Provider, Workspace } from '../src/core/index.ts';
import type * as Stores from '../src/stores/index.ts';
import type * as Tools from '../src/tools/index.ts';
import type * as Workspaces from '../src/workspace/index.ts';
import { median } from './median.ts';
import type { Subject } from './subject-process.ts';

const dist = path.join(import.meta.dirname, '..', 'dist');
const importBuilt = <T>(name: string): Promise<T> => import(path.join(dist, `${name}.js`)) as Promise<T>;

/** What is run: as little as a shell can do. */
const command = 'true';
/** Reads in one answer of the model: they run side by side. */
const callsPerReply = 50;

function createTempDir(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-bench-tools-')));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A model that costs nothing: says this many calls, so many an answer, and is done. */
function createCallingProvider(tool: string, input: (call: number) => Json, times: number, each: number): Provider {
  let said = 0;
  return {
    family: 'bench',
    model: 'bench',
    price: { input: 0, output: 0 },
    async *stream() {
      const count = Math.min(each, times - said);
      said += count;
      const calls = Array.from(
        { length: count },
        (_, i) => ({ type: 'tool-call', id: `${said}-${i}`, tool, input: input(said + i) }) as const,
      );
      yield {
        type: 'end',
        message: { role: 'assistant', parts: count ? calls : [{ type: 'text', text: 'done' }] },
        finishReason: count ? 'tool-calls' : 'stop',
        usage: { input: 100, output: 10 },
        model: 'bench',
        usd: 0,
      };
    },
  };
}

/** Another piece each time: the same one would be given again without a read. */
const createReadInput =
  (file: string) =>
  (call: number): Json => ({ path: file, limit: 1000 + (call % 1000) });

type BenchSession = { readonly session: Agent.Session; readonly run: () => Promise<number> };

/** A session whose model makes these calls, with the gate that a person has and a log in memory or in a file. */
async function openBenchSession(provider: Provider, file: boolean): Promise<BenchSession> {
  const [
    { resolveAgent, Session },
    { codingTools },
    { localWorkspace },
    { permissionGate, sessionGrants },
    { memoryLog, openJsonl },
  ] = await Promise.all([
    importBuilt<typeof Agent>('agent'),
    importBuilt<typeof Tools>('tools'),
    importBuilt<typeof Workspaces>('workspace'),
    importBuilt<typeof Guards>('guards'),
    importBuilt<typeof Stores>('stores'),
  ]);
  const root = createTempDir();
  const workspace = localWorkspace({ roots: [import.meta.dirname, root], cwd: root });
  const parts = resolveAgent({ provider, system: 'You are a test.', tools: codingTools(workspace) });
  const locate = (given: string): string => workspace.locate(given);
  const gate = permissionGate({ tools: parts.tools, mode: () => 'auto', grants: sessionGrants(), locate });
  const log = file ? await openJsonl(path.join(root, 'session.jsonl')) : memoryLog();
  const session = await Session.open({ ...parts, gates: [gate] }, log);
  return {
    session,
    async run() {
      const state = await session.advance('go', { limits: { turns: 1e9, stuckAfter: 0 } });
      if (state.ended?.reason !== 'answered') throw new Error(`${state.ended?.reason}: ${state.ended?.detail}`);
      await session.close();
      return state.spent.calls;
    },
  };
}

/** Calls through the whole loop. */
export const createLoopSubject = (file: boolean): Subject => ({
  load: () => importBuilt<typeof Agent>('agent'),
  read: async (name, n) =>
    (await openBenchSession(createCallingProvider('read_file', createReadInput(name), n, callsPerReply), file)).run(),
  command: async (n) =>
    (
      await openBenchSession(
        createCallingProvider('run_command', () => ({ command }), n, 1),
        file,
      )
    ).run(),
  growth: async (n) => measureGrowth(n),
});

/** The time of the first and of the last hundred calls, and the heap before and after, in one session on a file. */
async function measureGrowth(n: number): Promise<Record<string, number>> {
  const input = createReadInput(path.join(import.meta.dirname, 'empty.ts'));
  // What a session before it compiled and loaded is not to be counted as the slowness of the first calls.
  await (await openBenchSession(createCallingProvider('read_file', input, 300, 1), true)).run();
  const { session, run } = await openBenchSession(createCallingProvider('read_file', input, n, 1), true);
  const ends: number[] = [];
  const heaps: number[] = [];
  session.subscribe(({ type }) => {
    if (type !== 'tool-ended') return;
    ends.push(performance.now());
    if (ends.length !== 101 && ends.length !== n) return;
    globalThis.gc?.();
    heaps.push(process.memoryUsage().heapUsed);
  });
  await run();
  const times = ends.slice(1).map((end, i) => end - (ends[i] ?? 0));
  const [early = 0, late = 0] = heaps;
  return {
    first: median(times.slice(0, 100)),
    last: median(times.slice(-100)),
    bytesPerCall: (late - early) / (n - 101),
  };
}

/** The bare system calls. */
export const createBareSubject = (): Subject => ({
  async read(name, n) {
    const { readFile } = await import('node:fs/promises');
    for (let i = 0; i < n; i += callsPerReply)
      await Promise.all(Array.from({ length: callsPerReply }, () => readFile(name, 'utf8')));
    return n;
  },
  async command(n) {
    const cwd = createTempDir();
    for (let i = 0; i < n; i++)
      await new Promise((resolve, reject) => {
        spawn('/bin/bash', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
          .on('error', reject)
          .on('close', resolve);
      });
    return n;
  },
});

/** Commands in a workspace without a loop, each in this kind of sandbox; throws where that is not to be had. */
export const createSandboxSubject = (kind: 'none' | 'bubblewrap' | 'util-linux' | 'egress' | 'podman'): Subject => ({
  async command(n) {
    const root = createTempDir();
    const workspace = await openSandboxedWorkspace(kind, root);
    for (let i = 0; i < n; i++) {
      const { code, text } = await workspace.exec(command);
      if (code !== 0) throw new Error(`${kind}: exit code ${code} ${text}`);
    }
    return n;
  },
});

async function openSandboxedWorkspace(kind: string, root: string): Promise<Workspace> {
  const [{ localWorkspace, isPublicAddress }, { chooseSandbox, containerSandbox, withSandbox }] = await Promise.all([
    importBuilt<typeof Workspaces>('workspace'),
    importBuilt<typeof Guards>('guards'),
  ]);
  const workspace = localWorkspace({ roots: [root] });
  if (kind === 'none') return workspace;
  if (kind === 'podman') {
    const image = process.env['SANDBOX_CONTAINER_IMAGE'] ?? 'fairlead-busybox';
    spawnSync('podman', ['volume', 'create', 'fairlead-bench']);
    process.on('exit', () => spawnSync('podman', ['volume', 'rm', '-f', 'fairlead-bench']));
    return withSandbox(workspace, containerSandbox({ image, volume: 'fairlead-bench' }));
  }
  const egress = kind === 'egress' ? { egress: { hosts: ['example.com'], isPublic: isPublicAddress } } : {};
  const mode = kind === 'util-linux' ? kind : 'bubblewrap';
  const search = process.env['PATH'] ?? '';
  const sandbox = await chooseSandbox({ mode, roots: [root], home: homedir(), path: search, ...egress });
  if (sandbox.name !== mode) throw new Error(sandbox.description);
  return withSandbox(workspace, sandbox);
}
