// Decides whether a line that does not match its hash was edited by the user or damaged on the disk.
import type { SessionFileIndex, ModifiedLine } from './file-index.ts';
import { readAll, type Disk } from './disk.ts';

/** A writer sets the modification time to the time of the last event when it closes; any other write leaves a different time. */
const mtimeToleranceMs = 0.001;

/**
 * Marks modified lines as damaged, in the index only. A modified line is damage if no program wrote to the file after its writer closed it, or
 * if an earlier recovery found it damaged: then a side file holds the same bytes.
 */
export function detectDamage(index: SessionFileIndex, disk: Disk, file: string, fd: number): void {
  if (index.modifiedLines.length === 0) return;
  const isTouched = wasModified(index, disk, fd);
  dropDamagedLines(index, (line) => !isTouched || wasQuarantined(disk, file, fd, line));
}

/** Whether the file was written to after its last writer closed it. A file that was never closed counts as modified. */
function wasModified(index: SessionFileIndex, disk: Disk, fd: number): boolean {
  const mtimeMs = disk.stat(fd)?.mtimeMs ?? 0;
  return !(Math.abs(mtimeMs - Date.parse(index.time)) < mtimeToleranceMs);
}

function wasQuarantined(disk: Disk, file: string, fd: number, { offset, end }: ModifiedLine): boolean {
  const name = damagedFileName(file, offset);
  const sideFd = disk.stat(name) && disk.open(name, 'r');
  if (sideFd === undefined) return false;
  try {
    return readAll(disk, sideFd, 0, end - offset + 1).equals(readAll(disk, fd, offset, end - offset));
  } finally {
    disk.close(sideFd);
  }
}

/** The side file that keeps the damaged bytes at an offset. */
export const damagedFileName = (file: string, offset: number): string => `${file}.damaged-${offset}`;

function dropDamagedLines(index: SessionFileIndex, isDamage: (line: ModifiedLine) => boolean): void {
  const dropped = index.modifiedLines.filter(isDamage);
  for (const { line, offset, end } of dropped) {
    index.replacedLines.set(offset, []);
    index.damagedRanges.push({ offset, end });
    const message = `Line ${line} does not match its hash, and no program wrote to the file: its bytes were damaged on the disk.`;
    index.problems.push({ kind: 'damaged', line, offset, message });
    index.events--;
  }
  rewindPastDropped(index, dropped);
  index.modifiedLines = index.modifiedLines.filter((line) => !dropped.includes(line));
}

/** If the last lines were dropped, the next event follows the line before them. */
function rewindPastDropped(index: SessionFileIndex, dropped: readonly ModifiedLine[]): void {
  for (let end = index.offset; ;) {
    const last = dropped.findLast((line) => line.end === end);
    if (!last) return;
    index.seq = last.before.seq;
    index.id = last.before.id;
    end = last.offset;
  }
}
