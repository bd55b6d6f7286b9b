// The log of one start of the program: lines with their time, no keys in them.
import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import { errnoCode } from '../../stores/jsonl/disk.ts';
import { formatDateName, findFreeName } from '../../sessions/session-names.ts';
import { createStrictRedactor } from '../settings/redactor.ts';
import { withFileError, makePrivateDir } from '../../stores/private-file.ts';
import type { Settings } from '../settings/settings.ts';

type DebugLogContext = Pick<Settings, 'dirs' | 'all' | 'env'>;

/** A log that is being written. */
export type DebugLog = {
  readonly file: string;
  /** Adds a line. A disk that takes no more is no reason to stop: the line is lost. */
  write(line: string): void;
  close(): void;
};

/** Does the work of one start with a log of its own, which says how it came out. */
export async function withDebugLog(
  settings: DebugLogContext,
  title: string,
  warn: (text: string) => void,
  work: () => Promise<number>,
): Promise<number> {
  const log = tryOpenDebugLog(settings, warn);
  log.write(title);
  try {
    const code = await work();
    log.write(`ended with exit code ${code}`);
    return code;
  } catch (error) {
    log.write(String(error));
    throw error;
  } finally {
    log.close();
  }
}

/** A place that takes no log is no reason to do nothing. */
function tryOpenDebugLog(settings: DebugLogContext, warn: (text: string) => void): Pick<DebugLog, 'write' | 'close'> {
  try {
    return openDebugLog(settings);
  } catch (error) {
    warn(`This start has no log. ${errorMessage(error)}\n`);
    return { write() {}, close() {} };
  }
}

/** Begins the log of this start, named by date and time; a second one in the same second gets a number. */
export function openDebugLog(settings: DebugLogContext, now: Date = new Date()): DebugLog {
  const folder = path.join(settings.dirs.state, 'logs');
  makePrivateDir(folder);
  let fd = -1;
  const isTaken = (name: string): boolean => (fd = createLogFile(path.join(folder, name))) < 0;
  const file = path.join(folder, findFreeName(formatDateName(now), isTaken));
  const secrets = createStrictRedactor(settings);
  let open = true;
  return {
    file,
    write(line) {
      if (!open) return;
      const told = secrets.redact(line);
      try {
        writeSync(fd, `${new Date().toISOString()} ${told.replaceAll('\n', '\n  ')}\n`);
      } catch {}
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

/** The descriptor of a new file, or -1 if there is one of that name. */
function createLogFile(file: string): number {
  return withFileError(file, 'make', () => {
    try {
      return openSync(file, 'ax', 0o600);
    } catch (error) {
      if (errnoCode(error) === 'EEXIST') return -1;
      throw error;
    }
  });
}
