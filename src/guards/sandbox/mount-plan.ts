// The mounts and variables of one sandboxed command, as a list that bubblewrap and the util-linux sandbox both carry out, in this order.
import { systemFolders, systemLinkTarget, toolFolders, type InnerMounts } from './mounts.ts';
import { proxyFolder, proxyVariables } from './command-setup.ts';
import type { EgressProxy } from './egress.ts';
import type { SandboxAccess, SandboxPaths } from './sandbox.ts';
import { systemSecretPaths, type CoveredPath } from './system-secrets.ts';

/** One mount, or one link. A later one covers what earlier ones show. */
export type MountOperation =
  /** A file or folder of this machine with everything mounted inside it; without devices and set-id bits. */
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly at: string;
      readonly isReadOnly: boolean;
      /** True leaves it out if the source does not exist. */
      readonly isOptional?: boolean;
    }
  /** An empty folder in memory. */
  | { readonly kind: 'empty'; readonly at: string; readonly mode: number; readonly isReadOnly: boolean }
  /** A symbolic link. */
  | { readonly kind: 'link'; readonly target: string; readonly at: string }
  /** The processes of the sandbox. */
  | { readonly kind: 'processes'; readonly at: string }
  /** The devices that every program may use: null, zero, full, random, urandom, tty, and new pseudo-terminals. */
  | { readonly kind: 'devices'; readonly at: string };

/** What a launcher does before it starts a command. The root itself is an empty folder, read-only after the last operation. */
export type MountPlan = {
  readonly operations: readonly MountOperation[];
  readonly unsetVariables: readonly string[];
  readonly variables: readonly (readonly [name: string, value: string])[];
  /** The user inside; that of this process if absent. */
  readonly user?: { readonly uid: number; readonly gid: number };
};

/** Variables that point to hidden paths or change how programs run. */
const droppedVariables = [
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'LD_PRELOAD',
  'BASH_ENV',
  'ENV',
];

/** Kernel settings that root could change by writing to a file: inside the sandbox it is the same root, even with fewer capabilities. */
const kernelFolders = ['sys', 'sysrq-trigger', 'irq', 'bus', 'acpi', 'scsi', 'fs', 'mtrr'].map(
  (name) => `/proc/${name}`,
);

/** Root is another user inside: programs do not try what only root may do. Outside it is still the owner of its files, so private files of the system are covered. */
const unprivilegedUser = { uid: 65_534, gid: 65_534 };

/** The index of a repository records the user id of files. It differs inside, and git would read every file again. */
const gitSettings = [
  ['GIT_CONFIG_COUNT', '1'],
  ['GIT_CONFIG_KEY_0', 'core.checkStat'],
  ['GIT_CONFIG_VALUE_0', 'minimal'],
] as const;

const bind = (at: string, isReadOnly: boolean): MountOperation => ({ kind: 'bind', source: at, at, isReadOnly });
const readOnly = (at: string): MountOperation => bind(at, true);
const readOnlyIfPresent = (at: string): MountOperation => ({
  kind: 'bind',
  source: at,
  at,
  isReadOnly: true,
  isOptional: true,
});
const cover = ({ at, file }: CoveredPath): MountOperation =>
  file
    ? { kind: 'bind', source: '/dev/null', at, isReadOnly: true }
    : { kind: 'empty', at, mode: 0o755, isReadOnly: true };

/** Returns the mounts and variables of a command. Later mounts cover earlier ones, so the order matters. */
export function createMountPlan(
  paths: SandboxPaths,
  access: SandboxAccess,
  inner: InnerMounts,
  proxy?: EgressProxy,
): MountPlan {
  const { roots, home } = paths;
  const isRoot = process.getuid?.() === 0;
  const systemFolder = (at: string): MountOperation => {
    const target = systemLinkTarget(at);
    return target === undefined ? readOnly(at) : { kind: 'link', target, at };
  };
  const operations: readonly MountOperation[] = [
    { kind: 'processes', at: '/proc' },
    { kind: 'devices', at: '/dev' },
    { kind: 'empty', at: '/tmp', mode: 0o755, isReadOnly: false },
    ...kernelFolders.map(readOnlyIfPresent),
    ...systemFolders().map(systemFolder),
    ...systemSecretPaths(paths.path).map(cover),
    { kind: 'empty', at: home, mode: 0o700, isReadOnly: false },
    // A folder that was removed meanwhile is left out.
    ...toolFolders(paths).map(readOnlyIfPresent),
    ...(access.readable ?? []).map(readOnly),
    ...roots.map((root) => bind(root, access.access === 'read')),
    ...inner.protected.map(({ mountPoint, bindOption }) => bind(mountPoint, bindOption === '--ro-bind')),
    ...inner.hidden.map(cover),
    ...(proxy ? [{ kind: 'bind', source: proxy.folder, at: proxyFolder, isReadOnly: true } as const] : []),
  ];
  return {
    operations,
    unsetVariables: droppedVariables,
    variables: [['HOME', home], ['TMPDIR', '/tmp'], ...(isRoot ? gitSettings : []), ...(proxy ? proxyVariables : [])],
    ...(isRoot && { user: unprivilegedUser }),
  };
}
