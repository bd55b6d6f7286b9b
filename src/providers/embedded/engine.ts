// A model in memory: loaded once in a process however many use it, and at work on one answer at a time.
import { FairleadError } from '../../core/index.ts';
import { loadRuntime, unusable, type RuntimeLlama, type RuntimeModel, type RuntimeModule } from './runtime.ts';
import { abortFault } from '../wire/http.ts';

/** A model in memory and the native code around it. */
export type Loaded = {
  readonly runtime: RuntimeModule;
  readonly llama: RuntimeLlama;
  readonly model: RuntimeModel;
};

/** A model in use. */
export type Loan = Loaded & { readonly release: () => Promise<void> };

const inMemory = new Map<string, { users: number; readonly loaded: Promise<Loaded> }>();

/** The model of this file, loaded unless it already is. It leaves memory when its last user releases it. */
export async function borrowModel(file: string, home: string | undefined, threads: number): Promise<Loan> {
  const key = `${threads} ${file}`;
  const entry = inMemory.get(key) ?? { users: 0, loaded: load(file, home, threads) };
  inMemory.set(key, entry);
  entry.users += 1;
  const leave = (): boolean => {
    entry.users -= 1;
    return entry.users === 0 && inMemory.delete(key);
  };
  try {
    const loaded = await entry.loaded;
    let released = false;
    const release = async (): Promise<void> => {
      if (released) return;
      released = true;
      if (!leave()) return;
      await loaded.model.dispose();
      await loaded.llama.dispose();
    };
    return { ...loaded, release };
  } catch (error) {
    leave();
    throw error;
  }
}

async function load(file: string, home: string | undefined, threads: number): Promise<Loaded> {
  const runtime = await loadRuntime(home);
  const llama = await runtime
    .getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: threads })
    .catch((error: unknown) => {
      throw unusable(error);
    });
  try {
    return { runtime, llama, model: await llama.loadModel({ modelPath: file }) };
  } catch (error) {
    await llama.dispose();
    throw new FairleadError('embedded/not-loaded', `The model file ${file} could not be loaded.`, {
      blame: 'user',
      hint: 'Free some memory, or delete the file so that it is fetched again.',
      cause: error,
    });
  }
}

/** The work's result, or at once the reason of an abort; the work itself goes on, unheard. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const quit = Promise.withResolvers<never>();
  const stop = (): void => quit.reject(abortFault(signal));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, quit.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => {});
  }
}

let turn: Promise<void> = Promise.resolve();

/** Waits until no other answer is being written in this process; the returned function lets the next one begin. */
export async function takeTurn(signal: AbortSignal): Promise<() => void> {
  const mine = Promise.withResolvers<void>();
  const before = turn;
  turn = before.then(() => mine.promise);
  try {
    await unlessAborted(before, signal);
    return mine.resolve;
  } catch (error) {
    mine.resolve();
    throw error;
  }
}
