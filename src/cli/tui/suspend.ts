// Ctrl+Z on a screen that has taken the keys: the program stops as any other, and is drawn again when it goes on.

/** What is put away and brought back. */
type SuspendableDisplay = { stop(): void; start(): void; redraw(): void };

/** Stops as when the terminal itself sees the key: the whole group stops, and `fg` draws the screen again. */
export function suspendProcess(display: SuspendableDisplay): void {
  if (process.platform === 'win32') return;
  display.stop();
  const goOn = (): void => {
    clearTimeout(unstopped);
    process.off('SIGCONT', goOn);
    display.start();
    display.redraw();
  };
  process.on('SIGCONT', goOn);
  // Without a shell to come back to, the signal is ignored and nothing will wake the program: it goes on by itself.
  const unstopped = setTimeout(goOn, 200);
  process.kill(0, 'SIGTSTP');
}
