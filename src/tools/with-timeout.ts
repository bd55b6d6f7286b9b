// Runs regular expressions from a model or an untrusted repository with a timeout: only the watchdog of the engine can stop a runaway expression.
import { createContext, Script, type Context } from 'node:vm';
import { systemErrorCode } from '../core/index.ts';

const timeoutMs = 500;

type VmRunner = { readonly context: Context; readonly step: Script };

let vmRunner: VmRunner | undefined;

/** Created on first use, because it takes longer than the rest of a program start. */
const getVmRunner = (): VmRunner => (vmRunner ??= { context: createContext({}), step: new Script('work()') });

/** Returns true if the work completed in time; otherwise it was aborted midway. */
export function completesInTime(work: () => void): boolean {
  const { context, step } = getVmRunner();
  context['work'] = work;
  try {
    step.runInContext(context, { timeout: timeoutMs });
    return true;
  } catch (error) {
    // The engine throws this error from the other realm, so it is not an instance of our Error class.
    if (systemErrorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

const maxAttempts = 4;

/** The same for work that can be repeated: it is aborted only if the process itself used the time, not other processes of a busy machine. */
export function completesInCpuTime(work: () => void): boolean {
  for (let attempt = 1; ; attempt++) {
    const before = process.cpuUsage();
    if (completesInTime(work)) return true;
    const { user, system } = process.cpuUsage(before);
    if (attempt === maxAttempts || user + system > (timeoutMs * 1000) / 2) return false;
  }
}
