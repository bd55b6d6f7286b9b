// Runs JavaScript in QuickJS (WebAssembly) in a worker thread. The code can reach only the functions it is given.
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import type { Json } from '../../core/index.ts';
import { runInWorkerThread, serveWorkerThread, type WorkerContext } from '../worker-thread.ts';

/** The code to run. */
export type CodeTask = {
  readonly code: string;
  /** The names of its functions, as properties of `tools`. */
  readonly functions: readonly string[];
  readonly ms: number;
};

/** A call of one of those functions. */
export type CodeCall = { readonly name: string; readonly input: Json };

/** The result: printed text, and the value as JSON or the error. */
export type CodeResult = { readonly printed: string; readonly value?: string; readonly error?: string };

const memoryLimit = 64 * 1024 * 1024;
const stackLimit = 512 * 1024;
const maxPrintedChars = 20_000;
const maxValueChars = 20_000;

/** Runs code. `call` executes the functions it calls. */
export const runInQuickJs = async (
  task: CodeTask,
  signal: AbortSignal,
  call: (call: CodeCall) => Promise<Json>,
): Promise<CodeResult> =>
  (await runInWorkerThread(import.meta.url, task, {
    signal,
    // The engine stops by itself; this is the fallback. On a busy machine loading the engine takes seconds, which are not time of the code.
    timeoutMs: task.ms + 5000,
    startTimeoutMs: 60_000,
    onRequest: (question) => call(question as CodeCall),
  })) as CodeResult;

serveWorkerThread(import.meta.url, (task, context) => evaluate(task as CodeTask, context));

async function evaluate(task: CodeTask, context: WorkerContext): Promise<CodeResult> {
  const [{ newQuickJSWASMModuleFromVariant, shouldInterruptAfterDeadline }, variant] = await Promise.all([
    import('quickjs-emscripten-core'),
    import('@jitl/quickjs-singlefile-mjs-release-sync'),
  ]);
  const engine = await newQuickJSWASMModuleFromVariant(variant.default);
  context.started();
  const runtime = engine.newRuntime({
    memoryLimitBytes: memoryLimit,
    maxStackSizeBytes: stackLimit,
    interruptHandler: shouldInterruptAfterDeadline(Date.now() + task.ms),
  });
  return evaluateToEnd(runtime, runtime.newContext(), task, context);
}

/** Evaluates the code until it has a value, fails, has nothing to wait for, or times out. Nothing is freed, because the thread ends afterwards. */
function evaluateToEnd(
  runtime: QuickJSRuntime,
  vm: QuickJSContext,
  task: CodeTask,
  context: WorkerContext,
): Promise<CodeResult> {
  const { promise, resolve } = Promise.withResolvers<CodeResult>();
  const printed: string[] = [];
  let remainingChars = maxPrintedChars;
  let open = 0;
  const timeoutText = `It did not finish within ${task.ms / 1000} s, so it was stopped.`;
  const end = (outcome: Omit<CodeResult, 'printed'>): void => resolve({ printed: printed.join('\n'), ...outcome });
  const fail = (error: QuickJSHandle): void => end({ error: formatVmError(vm, error, timeoutText) });
  setTimeout(() => end({ error: timeoutText }), task.ms);
  give('__print', (line) => {
    const text = vm.getString(line);
    if (remainingChars > 0) printed.push(text.length > remainingChars ? `${text.slice(0, remainingChars)}…` : text);
    remainingChars -= text.length + 1;
    return vm.undefined;
  });
  give('__call', (name, input) => {
    const called = vm.newPromise();
    open++;
    const after = (act: () => void): void => {
      open--;
      act();
      goOn();
    };
    context.request({ name: vm.getString(name), input: JSON.parse(vm.getString(input)) as Json }).then(
      (value) => after(() => called.resolve(vm.newString(JSON.stringify(value)))),
      (error: Error) => after(() => called.reject(vm.newError(error.message))),
    );
    return called.handle;
  });
  const preludeResult = vm.evalCode(prelude(task.functions));
  const started = preludeResult.error
    ? preludeResult
    : vm.evalCode(`(async () => {\n${task.code}\n})().then(__json)`, 'code.js');
  if (started.error) fail(started.error);
  else goOn();
  return promise;

  /** Runs pending jobs, and checks the state. */
  function goOn(): void {
    const jobs = runtime.executePendingJobs();
    if (jobs.error) return fail(jobs.error);
    const state = started.error ? undefined : vm.getPromiseState(started.value);
    if (state?.type === 'rejected') fail(state.error);
    if (state?.type === 'fulfilled') end({ value: truncateValue(vm.getString(state.value)) });
    if (state?.type === 'pending' && open === 0) end({ error: 'It waits for something that never happens.' });
  }

  function give(name: string, work: (...args: QuickJSHandle[]) => QuickJSHandle): void {
    vm.setProp(vm.global, name, vm.newFunction(name, work));
  }
}

const truncateValue = (value: string): string =>
  value.length > maxValueChars ? `${value.slice(0, maxValueChars)}…` : value;

/** Returns the globals of the code, besides the language itself. */
const prelude = (functions: readonly string[]): string => `{
  const { __print: print, __call: call } = globalThis;
  delete globalThis.__print;
  delete globalThis.__call;
  const { stringify, parse } = JSON;
  const show = (value) => typeof value === 'string' ? value : (stringify(value) ?? String(value));
  const log = (...values) => print(values.map(show).join(' '));
  globalThis.console = Object.freeze({ log, info: log, warn: log, error: log, debug: log });
  globalThis.tools = Object.freeze(Object.fromEntries(${JSON.stringify(functions)}.map((name) =>
    [name, (input = {}) => call(name, stringify(input)).then(parse)])));
  Object.defineProperty(globalThis, '__json', { value: (value) => stringify(value) ?? 'undefined' });
}`;

function formatVmError(vm: QuickJSContext, handle: QuickJSHandle, timeoutText: string): string {
  const error: unknown = vm.dump(handle);
  if (typeof error !== 'object' || error === null) return String(error);
  const { name = 'Error', message = '', stack: where = '' } = error as Record<string, unknown>;
  if (name === 'InternalError' && message === 'interrupted') return timeoutText;
  return `${String(name)}: ${String(message)}\n${String(where)}`.trimEnd();
}
