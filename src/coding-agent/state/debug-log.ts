// The debug log of one process: lines with their time, without secrets.
import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, systemErrorCode } from '../../core/index.ts';
import { formatDateName, findFreeName } from '../../sessions/index.ts';
import { createStrictRedactor } from '../settings/redactor.ts';
import { withFileError, makePrivateDir } from '../../stores/index.ts';
import type { Settings } from '../settings/settings.ts';

type DebugLogContext = Pick<Settings, 'dirs' | 'all' | 'env'>;

/** An open log. */
export type DebugLog = {
  readonly file: string;
  /** Appends a line. If the write fails, the line is lost and the work continues. */
  write(line: string): void;
  close(): void;
};

/** Runs the work of a process with a log, which records its exit code or error. */
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

/** If the log cannot be opened, the work continues without one. */
function tryOpenDebugLog(settings: DebugLogContext, warn: (text: string) => void): Pick<DebugLog, 'write' | 'close'> {
  try {
    return openDebugLog(settings);
  } catch (error) {
    warn(`This start has no log. ${errorMessage(error)}\n`);
    return { write() {}, close() {} };
  }
}

/** Creates a log file named by date and time; a second one in the same second gets a number. */
export function openDebugLog(settings: DebugLogContext, now: Date = new Date()): DebugLog {
  const folder = path.join(settings.dirs.state, 'logs');
  makePrivateDir(folder);
  let fd = -1;
  const isTaken = (name: string): boolean => (fd = createLogFile(path.join(folder, name))) < 0;
  const file = path.join(folder, findFreeName(formatDateName(now), isTaken));
  const redactor = createStrictRedactor(settings);
  let isOpen = true;
  return {
    file,
    write(line) {
      if (!isOpen) return;
      const redacted = redactor.redact(line);
      try {
        writeSync(fd, `${new Date().toISOString()} ${redacted.replaceAll('\n', '\n  ')}\n`);
      } catch {}
    },
    close() {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

/** The descriptor of a new file, or -1 if the file exists. */
function createLogFile(file: string): number {
  return withFileError(file, 'make', () => {
    try {
      return openSync(file, 'ax', 0o600);
    } catch (error) {
      if (systemErrorCode(error) === 'EEXIST') return -1;
      throw error;
    }
  });
}
