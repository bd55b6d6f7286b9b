// Verifies the hash chain of a session file without changing it.
import type { SessionFileProblem } from './file-index.ts';
import { realDisk, type Disk } from './disk.ts';
import { buildIndex, listProblems, assertKnownFormat, assertSessionFile } from './load-index.ts';
import { toDiskError } from './errors.ts';

/** The result of a verification. `ok`: every line is as it was written, or a branch records its change. */
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
      const loaded = await buildIndex(disk, file, fd);
      const { index, torn } = loaded;
      assertKnownFormat(file, index.header);
      assertSessionFile(disk, file, fd, loaded);
      const problems = [...listProblems(index), ...(torn === undefined ? [] : [tornProblem(index.line + 1, torn)])];
      return { ok: problems.every(({ resolved }) => resolved), events: index.events, problems };
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    throw toDiskError(error, file, 'verify');
  }
}

/** The problem of an incomplete last line. */
export const tornProblem = (line: number, offset: number): SessionFileProblem => ({
  kind: 'torn',
  line,
  offset,
  message: `Line ${line}, the last one, is incomplete; its event was not yet saved.`,
});
