// Verifies inside a sandbox, before the command starts, that every mount below a writable folder shows the file that it should. A running command can replace a path by a link between the decision and the mount.
import { isPathInside } from '../../core/index.ts';
import { escapeMountField, findMount, readHostMounts, type HostMount } from './host-mounts.ts';

/** What is mounted below the writable folders. */
export type ExpectedMounts = {
  /** The folders that commands can write; real paths. */
  readonly folders: readonly string[];
  /** Paths inside them that are mounted at their own place. */
  readonly mounted: readonly string[];
  /** Paths inside them that are covered by something that no command can write. */
  readonly covered: readonly string[];
  /** Paths that are mounted before, from places that no command can write; a writable folder may be mounted over them. */
  readonly earlier: readonly string[];
};

/** Returns shell code that ends the process unless the mounts are the expected ones. The code uses no program: each would need time, and an image may lack it. */
export function mountCheckScript({ folders, mounted, covered, earlier }: ExpectedMounts): string {
  const host = readHostMounts();
  const required = [...new Set([...folders, ...mounted])].map((at) => formatMount(findMount(host, at)));
  const others = host.filter(({ mountPoint }) => folders.some((folder) => isPathInside(folder, mountPoint)));
  const allowed = [...required, ...others.map(formatMount)];
  const patterns = folders.map((folder) => `${quoteWord(escapeMountField(folder))}/*`).join('|');
  return [
    `a=${quoteWord(`|${allowed.join('|')}|`)}`,
    `c=${quoteWord(`|${[...earlier, ...covered].map(escapeMountField).join('|')}|`)}`,
    `q=${quoteWord(`|${[...required, ...covered.map(escapeMountField)].join('||')}|`)}`,
    `while read -r _ _ d s m _; do case "$m/" in ${patterns}) ;; *) continue ;; esac`,
    `k="|$d $s $m|"`,
    `case "$a" in *"$k"*) ;; *) k="|$m|"; case "$c" in *"$k"*) ;; *) q=changed; break ;; esac ;; esac`,
    `case "$q" in *"$k"*) q="\${q%%"$k"*}\${q#*"$k"}" ;; esac; done </proc/self/mountinfo`,
    `[ -z "$q" ] || { echo ${quoteWord(changedMessage)}; exit ${changedExitCode}; }`,
    'unset a c q k d s m _;',
  ].join('; ');
}

/** The exit code of a command that did not start because a mount was not the expected one. */
export const changedExitCode = 121;

const changedMessage =
  'The command was not started: a running command replaced a protected file or folder at the same moment. Stop the running command, then try again.';

const formatMount = ({ device, source, mountPoint }: HostMount): string =>
  `${device} ${escapeMountField(source)} ${escapeMountField(mountPoint)}`;

const quoteWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
