// Ctrl+Z: the terminal goes back to the shell until `fg`.
import type { Display } from './display.ts';

/** Stops this program as the shell would, and draws the screen again when it goes on. */
export function suspend(display: Display): void {
  if (process.platform === 'win32') return;
  display.stop();
  process.once('SIGCONT', () => {
    display.start();
    display.redraw();
  });
  // The whole group stops, as it does when the terminal itself sees the key.
  process.kill(0, 'SIGTSTP');
}
