// Starts the control thread of `serve` and `worker`, with the watchdog of the command line or the settings.
import type { Settings } from '../../../coding-agent/settings/index.ts';
import type { ControlThread, ControlThreadOptions } from '../../../server/control/index.ts';
import { printErr } from '../../args/stdio.ts';
import { parseCount } from './parse-numbers.ts';

/** The watchdog in seconds: that of `--watchdog`, of the settings, or the default one. */
export function parseWatchdog(
  arg: string | undefined,
  settings: Pick<Settings, 'all'>,
): Pick<ControlThreadOptions, 'watchdogSeconds'> {
  const seconds = parseCount('--watchdog', arg, 0) ?? settings.all.get('watchdog')?.value;
  return typeof seconds === 'number' ? { watchdogSeconds: seconds } : {};
}

/** Runs some work beside a control thread, which is loaded only here, and ends the thread. */
export async function withControlThread<T>(
  options: Omit<ControlThreadOptions, 'notify'>,
  work: (control: ControlThread) => Promise<T>,
): Promise<T> {
  const { startControlThread } = await import('../../../server/control/index.ts');
  const control = startControlThread({ ...options, notify: (text) => printErr(`${text}\n`) });
  try {
    return await work(control);
  } finally {
    await control.close();
  }
}
