// Pool of loaded models: each file is loaded once per process, and generates one answer at a time.
import { FairleadError } from '../../core/index.ts';
import {
  loadRuntime,
  runtimeUnusableError,
  type RuntimeLlama,
  type RuntimeModel,
  type RuntimeModule,
} from './runtime.ts';
import { abortError } from '../http/http.ts';

/** A loaded model and its native library. */
export type LoadedModel = {
  readonly runtime: RuntimeModule;
  readonly llama: RuntimeLlama;
  readonly model: RuntimeModel;
};

/** A reference to a loaded model. */
export type ModelLease = LoadedModel & { readonly release: () => Promise<void> };

const loadedModels = new Map<string, { users: number; readonly loaded: Promise<LoadedModel> }>();

/** Returns the model of this file, loaded if necessary. It is unloaded when its last reference is released. */
export async function acquireModel(file: string, home: string | undefined, threads: number): Promise<ModelLease> {
  const key = `${threads} ${file}`;
  const entry = loadedModels.get(key) ?? { users: 0, loaded: loadModel(file, home, threads) };
  loadedModels.set(key, entry);
  entry.users += 1;
  const leave = (): boolean => {
    entry.users -= 1;
    return entry.users === 0 && loadedModels.delete(key);
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

async function loadModel(file: string, home: string | undefined, threads: number): Promise<LoadedModel> {
  const runtime = await loadRuntime(home);
  const llama = await runtime
    .getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: threads })
    .catch((error: unknown) => {
      throw runtimeUnusableError(error);
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

/** Returns the result of the work, or rejects at once on an abort; the work itself continues, and its result is dropped. */
export async function raceWithAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const quit = Promise.withResolvers<never>();
  const stop = (): void => quit.reject(abortError(signal));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, quit.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => {});
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/** Waits until no other answer is generated in this process; the returned function releases the lock. */
export async function acquireTurn(signal: AbortSignal): Promise<() => void> {
  const mine = Promise.withResolvers<void>();
  const before = lastTurn;
  lastTurn = before.then(() => mine.promise);
  try {
    await raceWithAbort(before, signal);
    return mine.resolve;
  } catch (error) {
    mine.resolve();
    throw error;
  }
}
