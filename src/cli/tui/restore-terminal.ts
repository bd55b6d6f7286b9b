// Gives the terminal back as it was, however the program ends.

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/** Calls `giveBack` once when the program exits, crashes or is told to end; the returned function lets go. */
export function restoreTerminalOnExit(giveBack: () => void): () => void {
  const restore = (): void => {
    try {
      giveBack();
    } catch {
      // A terminal that is gone takes nothing back, and what is thrown here would keep the others from ending in order.
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    restore();
    letGo();
    // Whoever else listens decides what happens now; with nobody there the signal does what it always does.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  const letGo = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.off('exit', restore);
    process.off('uncaughtExceptionMonitor', restore);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('exit', restore);
  process.on('uncaughtExceptionMonitor', restore);
  return letGo;
}
