// Signals that tell the program to end: the first one ends it in order, so that no command it started outlives it; the second one at once.
import { exitCodes } from './exit-codes.ts';

/** A signal that ends the program. */
export type ShutdownSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const signalExitCodes: Readonly<Record<ShutdownSignal, number>> = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
};

/** Signals that are listened for. */
export type ShutdownHandle = {
  /** The exit code, once a signal came. */
  readonly code: number | undefined;
  /** Aborted at the first signal. */
  readonly signal: AbortSignal;
  readonly release: () => void;
};

/** Calls back at the first of these signals. */
export function onShutdown(signals: readonly ShutdownSignal[], end: () => void): ShutdownHandle {
  let code: number | undefined;
  const ended = new AbortController();
  const told = (signal: NodeJS.Signals): void => {
    if (code !== undefined) {
      // A terminal that closes tells it more than once: by the one who closes it, and by the system.
      if (signal === 'SIGHUP' && code === signalExitCodes.SIGHUP) return;
      process.exit(code);
    }
    code = signalExitCodes[signal as ShutdownSignal];
    // A terminal that is gone takes nothing more, and that is no reason to break off.
    if (signal === 'SIGHUP') for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    ended.abort();
    end();
  };
  for (const signal of signals) process.on(signal, told);
  return {
    get code() {
      return code;
    },
    signal: ended.signal,
    release: () => signals.forEach((signal) => void process.off(signal, told)),
  };
}
