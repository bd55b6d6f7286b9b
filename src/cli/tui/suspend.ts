// Suspends the program on Ctrl+Z and draws the screen again when it continues.

/** The display that is stopped and started again. */
type SuspendableDisplay = { stop(): void; start(): void; redraw(): void };

/** Stops the process group, as the terminal does on Ctrl+Z; `fg` draws the screen again. */
export function suspendProcess(display: SuspendableDisplay): void {
  if (process.platform === 'win32') return;
  display.stop();
  const resume = (): void => {
    clearTimeout(notStopped);
    process.off('SIGCONT', resume);
    display.start();
    display.redraw();
  };
  process.on('SIGCONT', resume);
  // Without a job-control shell SIGTSTP is ignored and no SIGCONT follows: resume after a timeout.
  const notStopped = setTimeout(resume, 200);
  process.kill(0, 'SIGTSTP');
}
