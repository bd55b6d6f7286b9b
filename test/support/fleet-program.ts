// Test fixture: the real program with a fleet store, and a scripted model that can be paused.
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FleetRun, FleetStore, JsonObject, NewRun, RunStatus } from '../../src/core/index.ts';
import { openFleetStore } from '../../src/stores/open-fleet-store.ts';
import type { Script } from '../../src/testing/index.ts';
import { createProgram, waitUntil as untilWithin, type TestProgram, type RunningProgram } from './cli-harness.ts';

/** The program and its store. */
export type FleetProgram = TestProgram & {
  readonly store: FleetStore;
  /** Starts a worker that is killed with the test. */
  worker(...args: readonly string[]): RunningProgram;
  /** Runs a command and returns its output; throws if it fails. */
  runCommand(...args: readonly string[]): Promise<string>;
  /** Adds runs in the working directory, as the enqueue command does. */
  enqueue(...runs: readonly NewRun[]): Promise<void>;
  /** Waits until a run has a status or meets a condition. */
  waitForRun(id: string, as: RunStatus | ((run: FleetRun) => boolean)): Promise<FleetRun>;
};

const timeoutMs = 30_000;

/** Creates the fixture. */
export async function createFleetProgram(t: TestContext, script?: Script<JsonObject>): Promise<FleetProgram> {
  const program = await createProgram(t, script);
  await program.seedModels('qwen3');
  const store = await openFleetStore(program.data('fleet.sqlite'));
  t.after(() => store.close());
  return {
    ...program,
    store,
    worker(...args) {
      const running = program.start(['worker', ...args]);
      t.after(() => running.kill('SIGKILL'));
      return running;
    },
    async runCommand(...args) {
      const { code, out, err } = await program.run(args);
      if (code !== 0) throw new Error(`fairlead ${args.join(' ')} ended with ${code}: ${err}`);
      return out;
    },
    async enqueue(...runs) {
      const inFolder = runs.map((run) => ({ ...run, settings: { folder: program.cwd, ...run.settings } }));
      await store.queue.enqueue(inFolder);
    },
    async waitForRun(id, as) {
      const fits = typeof as === 'function' ? as : (run: FleetRun): boolean => run.status === as;
      for (const end = Date.now() + timeoutMs; ; await pause(30)) {
        const run = await store.queue.run(id);
        if (run && fits(run)) return run;
        if (Date.now() > end) throw new Error(`${id} is not ${String(as)}: ${JSON.stringify(run)}`);
      }
    },
  };
}

/** Waits until a condition holds. */
export const waitUntilTrue = (what: string, holds: () => boolean): Promise<void> => untilWithin(what, holds, timeoutMs);

/** Pauses a scripted model: `reached` resolves when the model waits, `open` lets it continue. */
export function createBarrier(): {
  readonly reached: Promise<void>;
  readonly open: () => void;
  readonly wait: () => Promise<void>;
} {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    wait: () => {
      reached.resolve();
      return opened.promise;
    },
  };
}
