// Finds out why the kernel or a container forbids user namespaces, which every sandbox of commands on Linux needs, and which command allows them.
import { existsSync, readFileSync } from 'node:fs';
import { findTrustedProgram } from './trusted-program.ts';

/** Why no namespace can be made, as the end of a sentence, and what allows it, as the start of one. */
export type NamespaceObstacle = { readonly why: string; readonly remedy: string };

/** Reads a file of the system; undefined if it is absent. */
type ReadSystemFile = (file: string) => string | undefined;

/** Settings of the kernel that forbid user namespaces with this value. */
const kernelSettings = [
  { name: 'kernel.unprivileged_userns_clone', forbids: '0', allows: '1' },
  { name: 'user.max_user_namespaces', forbids: '0', allows: '15000' },
  { name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: '1', allows: '0' },
];

/** Files that container engines create in every container. */
const containerFiles = ['/.dockerenv', '/run/.containerenv'];

/** Returns what forbids user namespaces to this process, whose sandbox failed with this message; undefined if nothing is known to. */
export function findNamespaceObstacle(
  message: string,
  read: ReadSystemFile = readIfPresent,
  isRoot: boolean = process.getuid?.() === 0,
): NamespaceObstacle | undefined {
  const setting = kernelSettings.find(
    ({ name, forbids }) =>
      // These bind only users without privileges, except for a number of zero.
      (!isRoot || name.startsWith('user.')) && read(`/proc/sys/${name.replaceAll('.', '/')}`)?.trim() === forbids,
  );
  if (setting)
    return {
      why: `the kernel forbids user namespaces (${setting.name} is ${setting.forbids})`,
      remedy: `Allow them (sudo sysctl -w ${setting.name}=${setting.allows})`,
    };
  const isRefused = /not permitted|permission denied/i.test(message);
  if (!isRefused || !containerFiles.some((file) => read(file) !== undefined)) return undefined;
  return {
    why: `this container may not make user namespaces (${message})`,
    remedy:
      'Start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (podman: unmask=ALL for the second)',
  };
}

const readIfPresent: ReadSystemFile = (file) => {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
};

const packageManagers = [
  ['apt-get', 'apt-get install'],
  ['dnf', 'dnf install'],
  ['pacman', 'pacman -S'],
  ['zypper', 'zypper install'],
  ['apk', 'apk add'],
] as const;

/** Returns the command that installs a package on this machine; that of Debian if its package manager is not known. */
export function formatInstallCommand(name: string, search: string): string {
  const found = packageManagers.find(([program]) => findTrustedProgram(program, { roots: [], path: search }));
  return `${(found ?? packageManagers[0])[1]} ${name}`;
}
