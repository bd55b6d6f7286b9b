// Restores the terminal when the program ends, also by a signal or an uncaught error.

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/** Calls `restore` when the program exits, crashes or gets a signal; the returned function removes the handlers. */
export function restoreTerminalOnExit(restore: () => void): () => void {
  const tryRestore = (): void => {
    try {
      restore();
    } catch {
      // The terminal may be closed; an error here would prevent the other exit handlers.
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    tryRestore();
    removeHandlers();
    // Other listeners decide how the program ends; without one, the default action of the signal applies.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  const removeHandlers = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.off('exit', tryRestore);
    process.off('uncaughtExceptionMonitor', tryRestore);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('exit', tryRestore);
  process.on('uncaughtExceptionMonitor', tryRestore);
  return removeHandlers;
}
