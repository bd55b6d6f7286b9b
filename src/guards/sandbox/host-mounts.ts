// The mounts of this machine, as the kernel lists them for this process.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';

/** A mount of this machine. */
export type HostMount = {
  readonly device: string;
  /** The path inside the file system of the device. */
  readonly source: string;
  readonly mountPoint: string;
  /** Its flags, such as `ro` and `noexec`. */
  readonly flags: readonly string[];
};

/** Returns the mounts in the order in which they were made. */
export function readHostMounts(): readonly HostMount[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, , device = '', source = '', mountPoint = '', flags = ''] = line.split(' ');
      return {
        device,
        source: unescapeMountField(source),
        mountPoint: unescapeMountField(mountPoint),
        flags: flags.split(','),
      };
    });
}

/** Returns the mount that shows a path: the innermost one; of several at one place the last. */
export function findMount(host: readonly HostMount[], at: string): HostMount {
  const holder = host
    .filter(({ mountPoint }) => isPathInside(mountPoint, at))
    .reduce((best, each) => (each.mountPoint.length >= best.mountPoint.length ? each : best), noMount);
  return { ...holder, source: path.join(holder.source, path.relative(holder.mountPoint, at)), mountPoint: at };
}

const noMount: HostMount = { device: '', source: '/', mountPoint: '/', flags: [] };

/** Escapes a path as the kernel does in its list: these characters are octal numbers. */
export const escapeMountField = (text: string): string =>
  text.replaceAll(/[ \t\n\\]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);

const unescapeMountField = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
