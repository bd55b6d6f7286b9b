// The macOS sandbox (Seatbelt): a profile of what a command may read, write and reach, from the same folders as the bubblewrap mounts.
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import { argvAfterSetup, splitAccess, type SandboxAccess, type SandboxPaths, type Sandbox } from './sandbox.ts';
import { findHiddenPaths, hiddenPaths, protectedPathsFor, toolFolders } from './mounts.ts';

/** Its path on macOS. PATH is never searched, because programs there may be anything. */
const seatbeltProgram = '/usr/bin/sandbox-exec';

/** Creates a sandbox that uses Seatbelt. */
export function seatbeltSandbox(paths: SandboxPaths, program: string = seatbeltProgram): Sandbox {
  return {
    name: 'seatbelt',
    description: 'Commands reach the working folder and a read-only system, and no network; nothing else of yours.',
    findHidden: () => findHiddenPaths(paths),
    async exec(command, given, outside) {
      const { access, options } = splitAccess(given);
      const temp = mkdtempSync(path.join(tmpdir(), 'fairlead-sandbox-'));
      const envArgs = ['/usr/bin/env', `HOME=${paths.home}`, `TMPDIR=${temp}`];
      try {
        return await outside(
          [program, '-p', seatbeltProfile(paths, [temp], access), ...envArgs, ...withLimits(command)],
          options,
        );
      } finally {
        rmSync(temp, { recursive: true, force: true });
      }
    },
  };
}

/** Returns why Seatbelt cannot be used here; undefined if it can. It cannot allow single hosts: it filters by port, not by name. */
export function seatbeltUnavailableReason(
  { egress }: SandboxPaths,
  program: string = seatbeltProgram,
): string | undefined {
  if (egress) return 'commands may reach some hosts, and the macOS sandbox cannot restrict the network by host';
  return existsSync(program) ? undefined : `${program} is missing`;
}

/** Folders that programs on macOS need to run. */
const macosSystemFolders = [
  '/usr',
  '/bin',
  '/sbin',
  '/System',
  '/Library',
  '/opt',
  '/private/etc',
  '/private/var/db/timezone',
];
const macosDevices = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/dtracehelper'];
const macosSystemSecrets = [
  '/private/etc/master.passwd',
  '/private/etc/sudoers',
  '/Library/Keychains',
  '/private/etc/ssh',
];

/** Returns the rules of a profile. The last matching rule wins, so denials come last. */
export function seatbeltProfile(
  paths: SandboxPaths,
  temporary: readonly string[] = [],
  access: SandboxAccess = {},
): string {
  const { roots } = paths;
  const tools = toolFolders(paths);
  const readable = [...(access.readable ?? []), ...(access.writable ?? []), ...(access.gitDirectories ?? [])];
  const writable = [...roots, ...(access.writable ?? []), ...(access.gitDirectories ?? [])];
  const hidden = hiddenPaths(paths).map(({ at }) => at);
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    '(allow process-exec)',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    profileRule('allow file-read*', [...macosSystemFolders, ...tools, ...readable, ...roots, ...temporary]),
    `(allow file-read* file-write-data ${macosDevices.map((each) => `(literal ${quoteProfileString(each)})`).join(' ')})`,
    profileRule('deny file-read*', macosSystemSecrets),
    profileRule('allow file-write*', [...(access.access === 'read' ? [] : writable), ...temporary]),
    // Paths that do not exist yet are included: a rule does not need an existing file.
    profileRule('deny file-write*', protectedPathsFor(paths, access)),
    profileRule('deny file-read* file-write*', hidden),
    '(deny network*)',
  ]
    .filter((each) => each !== '')
    .join('\n');
}

/** Returns one rule for these folders and everything in them; empty if there are no folders. */
const profileRule = (what: string, folders: readonly string[]): string =>
  folders.length === 0
    ? ''
    : `(${what} ${folders.map((each) => `(subpath ${quoteProfileString(resolveRealPath(each))})`).join(' ')})`;

/** The kernel checks real paths: `/tmp` and `/var` are links on macOS. */
function resolveRealPath(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(at)) return path.join(realpathSync(at), path.relative(at, folder));
    if (path.dirname(at) === at) return folder;
  }
}

/** Quotes a string for the profile. Throws if it contains characters that cannot be escaped. */
export function quoteProfileString(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new FairleadError(
      'sandbox/unusable',
      `The folder ${JSON.stringify(text)} cannot be confined: its name contains a control character.`,
      {
        blame: 'user',
        hint: 'Start in a folder with a plain name.',
      },
    );
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** The limits of one command. macOS has no groups that would limit its children together. */
const withLimits = (command: string | readonly string[]): readonly string[] =>
  argvAfterSetup('{ ulimit -c 0; ulimit -u 2048; ulimit -n 4096; ulimit -f 16777216; } 2>/dev/null;', command);
