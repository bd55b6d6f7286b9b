// Graceful shutdown: the first signal starts an orderly end, so that no child process outlives the program; the second exits at once.
import { exitCodes } from './exit-codes.ts';

/** A signal that ends the program. */
export type ShutdownSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const signalExitCodes: Readonly<Record<ShutdownSignal, number>> = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hangup,
};

/** The registered signal handlers. */
export type ShutdownHandle = {
  /** The exit code, after a signal. */
  readonly code: number | undefined;
  /** Aborted at the first signal. */
  readonly signal: AbortSignal;
  readonly release: () => void;
};

/** Calls `onSignal` at the first of these signals. */
export function onShutdown(signals: readonly ShutdownSignal[], onSignal: () => void): ShutdownHandle {
  let code: number | undefined;
  const shutdown = new AbortController();
  const handle = (signal: NodeJS.Signals): void => {
    if (code !== undefined) {
      // A closing terminal may send SIGHUP more than once: from the terminal program, and from the kernel.
      if (signal === 'SIGHUP' && code === signalExitCodes.SIGHUP) return;
      process.exit(code);
    }
    code = signalExitCodes[signal as ShutdownSignal];
    // Writes to a closed terminal fail; that must not abort the shutdown.
    if (signal === 'SIGHUP') for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    shutdown.abort();
    onSignal();
  };
  for (const signal of signals) process.on(signal, handle);
  return {
    get code() {
      return code;
    },
    signal: shutdown.signal,
    release: () => signals.forEach((signal) => void process.off(signal, handle)),
  };
}
