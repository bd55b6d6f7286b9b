// The control thread: health and the kill switch of a process whose main thread is blocked, and its watchdog.
export {
  startControlThread,
  defaultWatchdogSeconds,
  type ControlThread,
  type ControlThreadOptions,
} from './control-thread.ts';
export { blockedExitCode } from './main-thread.ts';
