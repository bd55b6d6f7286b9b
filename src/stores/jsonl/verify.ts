// Checks a session file from its first byte to its last, and changes nothing.
import type { SessionFileProblem } from './file-index.ts';
import { realDisk, type Disk } from './disk.ts';
import { buildIndex, listProblems, assertKnownFormat, assertSessionFile } from './load-index.ts';
import { toDiskError } from './errors.ts';

/** What a check of a file found. `ok`: every line is what was written, or is named as changed by a branch that verifies. */
export type FileVerification = {
  readonly ok: boolean;
  readonly events: number;
  readonly problems: readonly SessionFileProblem[];
};

/** Verifies the hash chain of a session file, streaming. */
export async function verifyFile(file: string, disk: Disk = realDisk): Promise<FileVerification> {
  try {
    const fd = disk.open(file, 'r');
    try {
      const found = await buildIndex(disk, file, fd);
      assertKnownFormat(file, found.chart.header);
      assertSessionFile(disk, file, fd, found);
      const { chart, torn } = found;
      const problems = [...listProblems(chart), ...(torn === undefined ? [] : [tornProblem(chart.line + 1, torn)])];
      return { ok: problems.every(({ healed }) => healed), events: chart.events, problems };
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    throw toDiskError(error, file, 'verify');
  }
}

/** A last line that was never finished. */
export const tornProblem = (line: number, offset: number): SessionFileProblem => ({
  kind: 'torn',
  line,
  offset,
  what: `Line ${line}, the last one, was never finished; what it would have said was not yet saved.`,
});
