// Work on patterns that a model or a stranger's repository wrote, with an end: only the engine's own watchdog can stop a runaway expression.
import { createContext, Script, type Context } from 'node:vm';
import { systemErrorCode } from '../core/index.ts';

const timeoutMs = 500;

type VmRunner = { readonly context: Context; readonly step: Script };

let vmRunner: VmRunner | undefined;

/** Made when it is first needed: it costs more than all the rest of a start. */
const getVmRunner = (): VmRunner => (vmRunner ??= { context: createContext({}), step: new Script('work()') });

/** Whether this work was done in time; where it was not, it was given up half-way. */
export function completesInTime(work: () => void): boolean {
  const { context, step } = getVmRunner();
  context['work'] = work;
  try {
    step.runInContext(context, { timeout: timeoutMs });
    return true;
  } catch (error) {
    // The engine throws this one from within the other context, so it is no Error of ours.
    if (systemErrorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
