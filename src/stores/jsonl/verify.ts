// Checks a session file from its first byte to its last, and changes nothing.
import type { Problem } from './chart.ts';
import { realDisk, type Disk } from './disk.ts';
import { fromStart, problemsOf, refuseNewer, refuseStranger } from './survey.ts';
import { diskTrouble } from './trouble.ts';

/** What a check of a file found. `ok`: every line is what was written, or is named as changed by a branch that verifies. */
export type Verification = { readonly ok: boolean; readonly events: number; readonly problems: readonly Problem[] };

/** Verifies the hash chain of a session file, streaming. */
export async function verifyFile(file: string, disk: Disk = realDisk): Promise<Verification> {
  try {
    const fd = disk.open(file, 'r');
    try {
      const found = await fromStart(disk, file, fd);
      refuseNewer(file, found.chart.header);
      refuseStranger(disk, file, fd, found);
      const { chart, torn } = found;
      const problems = [...problemsOf(chart), ...(torn === undefined ? [] : [tornProblem(chart.line + 1, torn)])];
      return { ok: problems.every(({ healed }) => healed), events: chart.events, problems };
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    throw diskTrouble(error, file, 'verify');
  }
}

/** A last line that was never finished. */
export const tornProblem = (line: number, offset: number): Problem => ({
  kind: 'torn',
  line,
  offset,
  what: `Line ${line}, the last one, was never finished; what it would have said was not yet saved.`,
});
