// Sweeps after the commands that still run when the process exits.

/** What is done when the process exits during a command. */
export type ExitSweep = {
  /** Returns how many files were found. */
  readonly sweep: () => number;
  readonly end: () => void;
};

/** Sweeps of running commands. */
const pendingSweeps = new Set<ExitSweep>();
let hasExitListener = false;
const [exitRoundMs, maxExitRounds, quietExitRounds] = [25, 40, 6];

/** Sweeps at exit. Must be called after the command was started: its kill-at-exit listener is then registered first and runs before the sweep. */
export function sweepAtExit(sweep: ExitSweep): void {
  pendingSweeps.add(sweep);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => {
    // The processes of a killed command end some milliseconds later, so it is looked several times.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (
      let round = 0, quiet = 0;
      pendingSweeps.size > 0 && round < maxExitRounds && quiet < quietExitRounds;
      round++
    ) {
      Atomics.wait(pause, 0, 0, exitRoundMs);
      const found = [...pendingSweeps].reduce((sum, each) => sum + each.sweep(), 0);
      quiet = found === 0 ? quiet + 1 : 0;
    }
    pendingSweeps.forEach((each) => each.end());
  });
}

/** Forgets a sweep, because its command has ended. */
export const forgetExitSweep = (sweep: ExitSweep): void => void pendingSweeps.delete(sweep);
