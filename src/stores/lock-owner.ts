// Identity of the process that owns a lock or a lease, so that an ended process is detected even if its pid is reused.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import { isObject, systemErrorCode } from '../core/index.ts';
import { tryParseJson } from './try-parse-json.ts';

/** The process that owns a lock. A field that the system does not provide is empty. */
export type LockOwner = {
  readonly pid: number;
  /** The start time of the process as the system writes it: a pid may be reused, this is not. */
  readonly start: string;
  /** The boot id of the machine. */
  readonly boot: string;
  readonly host: string;
  /** The pid namespace: a container has its own. */
  readonly space: string;
  /** New for each lock; begins with the pid. */
  readonly token: string;
  /** When the lock was acquired. */
  readonly time: string;
  /** The last heartbeat, in milliseconds since boot, so that clock changes do not matter. */
  readonly beat: string;
};

/** This process as an owner, with a new token. */
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

/** The heartbeat of now; of constant length, so that it can be overwritten in place. */
export const heartbeatNow = (): string => uptimeMs().toString().padStart(15, '0');

const uptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Parses the owner from the text of a lock; undefined if the text is damaged. */
export function parseLockOwner(text: string): LockOwner | undefined {
  const value = tryParseJson(text);
  if (!isObject(value) || typeof value['pid'] !== 'number' || typeof value['token'] !== 'string') return undefined;
  const field = (key: string): string => (typeof value[key] === 'string' ? value[key] : '');
  return {
    pid: value['pid'],
    start: field('start'),
    boot: field('boot'),
    host: field('host'),
    space: field('space'),
    token: value['token'],
    time: field('time'),
    beat: field('beat'),
  };
}

/** Whether the owner still runs; undefined if that cannot be known from this machine or container. */
export function isOwnerAlive(owner: LockOwner): boolean | undefined {
  const own = createLockOwner();
  if (owner.host !== own.host) return undefined;
  if (owner.boot !== own.boot && owner.boot && own.boot) return false;
  if (owner.space !== own.space) return undefined;
  if (!isProcessRunning(owner.pid)) return false;
  const start = processStartTime(owner.pid);
  return start && owner.start ? start === owner.start : true;
}

/** Milliseconds since the last heartbeat. The modification time of the lock is used only for owners on other machines. */
export function msSinceHeartbeat(owner: LockOwner, lockChanged: number): number {
  const own = createLockOwner();
  const isSameBoot = owner.host === own.host && owner.boot === own.boot && owner.beat !== '';
  return isSameBoot ? uptimeMs() - Number(owner.beat) : Date.now() - lockChanged;
}

/** Whether a process with this pid runs on this machine. A process that has ended keeps its pid until its parent reads the exit code. */
export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^[ZX]$/.test(readProcessFields(pid)[0] ?? '');
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH';
  }
}

function processStartTime(pid: number): string {
  if (process.platform === 'win32') return '';
  const start = readProcessFields(pid)[19];
  if (start !== undefined) return start;
  if (process.platform === 'linux') return '';
  try {
    return execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 2000 }).trim();
  } catch {
    return '';
  }
}

/** The fields of a process on Linux after its name, which may contain anything: its state is the first, its start time the 20th. */
function readProcessFields(pid: number): readonly string[] {
  const stat = readProcFile(`/proc/${pid}/stat`);
  return stat ? stat.slice(stat.lastIndexOf(')') + 2).split(' ') : [];
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
