// Who holds a session file: a process named so that a dead one, and a new one with the same number, can be told from it.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import { isObject } from '../core/index.ts';
import { tryParseJson } from './jsonl/line.ts';

/** A process that holds, or held, the writer's place. What the system does not tell is an empty text. */
export type LockOwner = {
  readonly pid: number;
  /** When the process started, in the system's own words: a process number comes back, this does not. */
  readonly start: string;
  /** The run of the machine it belongs to. */
  readonly boot: string;
  readonly host: string;
  /** The set of process numbers it lives in: a container has its own. */
  readonly space: string;
  /** New each time the place is taken; begins with the process number. */
  readonly token: string;
  readonly time: string;
  /** Its last sign of life, in milliseconds since the machine started, which no change of the clock can move. */
  readonly beat: string;
};

/** This process as a holder, with a new token. */
export function createLockOwner(): LockOwner {
  processIdentity ??= {
    pid: process.pid,
    start: processStartTime(process.pid),
    boot: readProcFile('/proc/sys/kernel/random/boot_id'),
    host: os.hostname(),
    space: pidNamespace(),
  };
  const token = `${process.pid}-${randomBytes(6).toString('hex')}`;
  return { ...processIdentity, token, time: new Date().toISOString(), beat: heartbeatNow() };
}

let processIdentity: Omit<LockOwner, 'token' | 'time' | 'beat'> | undefined;

/** A sign of life, always of the same length, so that it can be overwritten in place. */
export const heartbeatNow = (): string => uptimeMs().toString().padStart(15, '0');

const uptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** The holder that a lock names, if its text is whole. */
export function parseLockOwner(text: string): LockOwner | undefined {
  const value = tryParseJson(text);
  if (!isObject(value) || typeof value['pid'] !== 'number' || typeof value['token'] !== 'string') return undefined;
  const word = (key: string): string => (typeof value[key] === 'string' ? value[key] : '');
  return {
    pid: value['pid'],
    start: word('start'),
    boot: word('boot'),
    host: word('host'),
    space: word('space'),
    token: value['token'],
    time: word('time'),
    beat: word('beat'),
  };
}

/** Whether a holder still lives; nothing where that cannot be known from here. */
export function isOwnerAlive(holder: LockOwner): boolean | undefined {
  const me = createLockOwner();
  if (holder.host !== me.host) return undefined;
  if (holder.boot !== me.boot && holder.boot && me.boot) return false;
  if (holder.space !== me.space) return undefined;
  if (!isProcessRunning(holder.pid)) return false;
  const start = processStartTime(holder.pid);
  return start && holder.start ? start === holder.start : true;
}

/** How long a holder has given no sign of life. The lock file's own time is used only for another machine's. */
export function msSinceHeartbeat(holder: LockOwner, lockChanged: number): number {
  const me = createLockOwner();
  const sameRun = holder.host === me.host && holder.boot === me.boot && holder.beat !== '';
  return sameRun ? uptimeMs() - Number(holder.beat) : Date.now() - lockChanged;
}

/** Whether a process with this number runs here. */
export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function processStartTime(pid: number): string {
  if (process.platform === 'win32') return '';
  const stat = readProcFile(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything; the start is the 20th field after it.
  if (stat) return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  if (process.platform === 'linux') return '';
  try {
    return execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 2000 }).trim();
  } catch {
    return '';
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function readProcFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
