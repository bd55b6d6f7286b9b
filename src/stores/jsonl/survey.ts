// Finds out what is in a session file: from its index and the rest, where the index can be trusted, else from the whole of it.
import { FairleadError } from '../../core/index.ts';
import { newChart, type Chart, type Problem } from './chart.ts';
import { readAll, type Disk } from './disk.ts';
import { formatVersion, headerOf, type Header } from './line.ts';
import { settleLinks, settleRepeats } from './links.ts';
import { mend } from './mend.ts';
import { scan } from './scan.ts';
import { newPrefix, readSidecar, type Prefix } from './sidecar.ts';

/** What a look at a file gave. */
export type Survey = {
  readonly chart: Chart;
  /** Where an unfinished last line begins. */
  readonly torn: number | undefined;
  readonly from: 'index' | 'start';
  /** How many lines were looked at. */
  readonly lines: number;
  readonly prefix: Prefix;
};

/** Charts a file, trusting its index as far as the bytes prove it right. */
export async function survey(disk: Disk, file: string, fd: number): Promise<Survey> {
  return (await fromIndex(disk, file, fd)) ?? fromStart(disk, file, fd);
}

/** Charts a file from its first byte. */
export async function fromStart(disk: Disk, file: string, fd: number): Promise<Survey> {
  const chart = newChart();
  const torn = await carryOn(chart, disk, file, fd);
  return { chart, torn, from: 'start', lines: chart.line, prefix: newPrefix(disk) };
}

async function fromIndex(disk: Disk, file: string, fd: number): Promise<Survey | undefined> {
  const index = readSidecar(disk, file);
  const header = index && peekHeader(disk, fd);
  if (!index || !header || index.offset > (disk.facts(fd)?.size ?? 0)) return undefined;
  const prefix = newPrefix(disk);
  if ((await prefix.upTo(fd, index.offset)) !== index.sha256) return undefined;
  const chart = newChart(index, header);
  const torn = await carryOn(chart, disk, file, fd);
  if (chart.escapes || chart.problems.length > 0 || chart.suspects.length > 0) return undefined;
  return { chart, torn, from: 'index', lines: chart.line - index.line, prefix };
}

/** Charts what was added to a file since it was charted. */
export async function carryOn(
  chart: Chart,
  disk: Disk,
  file: string,
  fd: number,
  to?: number,
): Promise<number | undefined> {
  const torn = await scan(chart, disk, fd, to);
  settleRepeats(chart, disk, fd);
  mend(chart, disk, file, fd);
  settleLinks(chart, disk, fd);
  return torn;
}

/** The header of a file, if its first line is one. */
export function peekHeader(disk: Disk, fd: number): Header | undefined {
  const [line = ''] = readAll(disk, fd, 0, 65_536).toString().split('\n', 1);
  return headerOf(line.replace(/^\uFEFF/, ''));
}

/** Refuses a file that a later version wrote, before anything is changed. */
export function refuseNewer(file: string, header: Header | undefined): void {
  if (!header || header.version <= formatVersion) return;
  throw new FairleadError(
    'store/newer-version',
    `${file} is written in format ${header.version}; this program knows formats up to ${formatVersion}.`,
    { blame: 'user', hint: 'Open it with a newer version of Fairlead; the file was left as it is.' },
  );
}

/** Refuses a file that is no session, so that nobody's other file is ever changed. */
export function refuseStranger(disk: Disk, file: string, fd: number, { chart, torn }: Survey): void {
  if (chart.header || chart.events > 0 || (chart.offset === 0 && isUnborn(disk, fd, torn))) return;
  throw new FairleadError('store/not-a-session', `${file} is not a session file: it has no header and no events.`, {
    blame: 'user',
    hint: 'Name another file; this one was left as it is.',
  });
}

/** A session whose header never reached the disk: empty, zeros, or the beginning of a header. */
function isUnborn(disk: Disk, fd: number, torn: number | undefined): boolean {
  if (torn === undefined) return true;
  const text = readAll(disk, fd, 0, 4096).toString('latin1').replace(/\0+$/, '');
  const start = '{"fairlead":';
  return text.startsWith(start) || start.startsWith(text);
}

/** Everything there is to say about a charted file. */
export function problemsOf({ problems, suspects }: Chart): readonly Problem[] {
  const edits = suspects.map(({ line, offset }): Problem => ({
    kind: 'edited',
    line,
    offset,
    what: `Line ${line} was changed outside the program.`,
  }));
  return [...problems, ...edits].toSorted((a, b) => a.offset - b.offset);
}
