// Records on disk that commands are running in a folder: other processes see them, and the next start sweeps after a process that was killed.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import type { Baseline } from './baseline.ts';
import { lstatIfVisible } from './open-folder.ts';

/** What the record of a sandbox contains. */
type CommandRecord = {
  readonly pid: number;
  /** When the process started, in the unit of the system: a process id is used again. */
  readonly processStart: string;
  readonly roots: readonly string[];
  readonly baseline: Baseline;
  /** When the process exited during a command, in milliseconds. Without it, the process was killed. */
  readonly endedAt?: number;
};

/** A process that ended during a command, and what was unprotected then. */
export type InterruptedCommands = {
  readonly baseline: Baseline;
  /** When its commands had ended at the latest, in milliseconds. They end with their process. */
  readonly endedBy: number;
};

/** The record of one sandbox. */
export type CommandRecorder = {
  /** Records that commands run. */
  begin(baseline: Baseline): void;
  /** Returns whether other sandboxes run commands in these folders; `starting` if the mounts of one may not be complete. */
  others(): 'none' | 'running' | 'starting';
  /** Records that commands still run; called every second. */
  renew(): void;
  /** Records that no command runs. */
  end(): void;
  /** Records that the process exits during a command. */
  interrupt(): void;
};

const [activeSuffix, idleSuffix, renewedSuffix] = ['.active.json', '.idle.json', '.renewed'];

/** Creates the recorder of a sandbox. Without a folder nothing is recorded, and other commands may be running. */
export function createCommandRecorder(folder: string | undefined, roots: readonly string[]): CommandRecorder {
  if (folder === undefined)
    return { begin: () => {}, others: () => 'running', renew: () => {}, end: () => {}, interrupt: () => {} };
  const name = path.join(folder, randomUUID());
  const [active, idle, renewed] = [`${name}${activeSuffix}`, `${name}${idleSuffix}`, `${name}${renewedSuffix}`];
  let isRenewed = false;
  let written: { readonly key: string; readonly baseline: Baseline } | undefined;
  const write = (key: string, baseline: Baseline): void => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(active, format(baseline), { mode: 0o600 });
    if (written !== undefined) removeFile(idle);
    written = { key, baseline };
    removeAtExit(idle);
  };
  const format = (baseline: Baseline, more: Pick<CommandRecord, 'endedAt'> = {}): string =>
    JSON.stringify({ pid: process.pid, processStart: ownStart(), roots, baseline, ...more } satisfies CommandRecord);
  return {
    begin(baseline) {
      try {
        const key = formatKey(baseline);
        // A record is written again only if it changed: renaming it takes less time.
        if (key === written?.key) {
          renameSync(idle, active);
          setTime(active);
        } else write(key, baseline);
      } catch {
        written = undefined;
      }
    },
    others() {
      const found = findOthers(folder, active, roots);
      // Without a record, a command of another process does not see this one and may begin at the same moment.
      if (found.length === 0) return written === undefined ? 'running' : 'none';
      return found.some((file) => Date.now() - Number(lstatIfVisible(file)?.ctimeMs ?? 0) < startMs)
        ? 'starting'
        : 'running';
    },
    renew() {
      if (written === undefined) return;
      try {
        // Another file than the record, whose time says when the commands began.
        writeFileSync(renewed, '', { mode: 0o600 });
        setTime(renewed);
        isRenewed = true;
        removeAtExit(renewed);
      } catch {
        // The record counts until its own time.
      }
    },
    end() {
      if (isRenewed) removeFile(renewed);
      isRenewed = false;
      try {
        renameSync(active, idle);
      } catch {
        written = undefined;
      }
    },
    interrupt() {
      if (written === undefined) return;
      try {
        writeFileSync(active, format(written.baseline, { endedAt: Date.now() }), { mode: 0o600 });
      } catch {
        // The next start treats the process as killed.
      }
    },
  };
}

function setTime(file: string): void {
  const now = Date.now() / 1000;
  utimesSync(file, now, now);
}

/** Returns a text that differs if a baseline differs. */
const formatKey = ({ unprotected, repositories, unreadableIndexes }: Baseline): string =>
  [
    ...unprotected.map((each) => `${each.location}\0${each.linkTarget ?? ''}\0${each.hasPlaceholder ?? ''}`),
    ...repositories,
    ...unreadableIndexes,
  ].join('\0');

/** Removes the records of processes that have ended in these folders, and returns those that ended during a command. */
export function takeInterrupted(folder: string | undefined, roots: readonly string[]): readonly InterruptedCommands[] {
  if (folder === undefined) return [];
  return listRecords(folder).flatMap((file) => {
    const record = readRecord(path.join(folder, file));
    if (!record || isAlive(record) || !record.roots.every((root) => roots.includes(root))) return [];
    const at = path.join(folder, file);
    const renewed = at.replace(/\.(?:active|idle)\.json$/, renewedSuffix);
    const endedBy = record.endedAt === undefined ? lastRenewal(at, renewed) + maxUnseenMs : record.endedAt + maxEndMs;
    removeFile(at);
    removeFile(renewed);
    return file.endsWith(activeSuffix) ? [{ baseline: record.baseline, endedBy }] : [];
  });
}

/** A command can create a file shortly after the process that started it exited. */
const maxEndMs = 10_000;
/** A process renews its record every second, so one that was killed ended long before this time was over. */
const maxUnseenMs = 15_000;

const lastRenewal = (record: string, renewed: string): number => Math.max(timeOf(record), timeOf(renewed));

const timeOf = (file: string): number => Number(lstatIfVisible(file)?.mtimeMs ?? 0);

/** The folders of the records that were seen: they do not change. */
const seenRecords = new Map<string, CommandRecord>();

/** The mounts of a command are complete after this time. */
export const startMs = 300;

function findOthers(folder: string, own: string, roots: readonly string[]): readonly string[] {
  return listRecords(folder)
    .filter((name) => name.endsWith(activeSuffix))
    .map((name) => path.join(folder, name))
    .filter((file) => {
      if (file === own) return false;
      const record = seenRecords.get(file) ?? readRecord(file);
      // A record that cannot be read is being written.
      if (record === undefined) return true;
      seenRecords.set(file, record);
      const isShared = record.roots.some((a) => roots.some((b) => isPathInside(a, b) || isPathInside(b, a)));
      return isShared && isAlive(record);
    });
}

function listRecords(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

function readRecord(file: string): CommandRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CommandRecord;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, processStart }: CommandRecord): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return processStart === startOf(pid);
}

let knownStart: string | undefined;
const ownStart = (): string => (knownStart ??= startOf(process.pid));

/** The start time is the 20th field after the name of the program, which may contain spaces. Other systems than Linux have none. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

const idleRecords = new Set<string>();
let hasExitListener = false;

function removeAtExit(file: string): void {
  idleRecords.add(file);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => idleRecords.forEach(removeFile));
}

function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It does not exist.
  }
}
