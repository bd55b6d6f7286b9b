// Quarantines auto-executed files that a sandboxed command creates where nothing existed before. They are moved away; if that fails, commands are stopped.
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, escapeInvisibleLine, isPathInside, type ExecResult } from '../../core/index.ts';
import { findConfiguredBareRepositories } from './git-directories.ts';
import { moveAside, type MovablePath } from './move-aside.ts';
import { isApproved, protectedPaths } from './mounts.ts';
import {
  createPresenceCheck,
  findLinkAbove,
  foldersBetween,
  grantOwnerPermissions,
  lstatIfVisible,
} from './open-folder.ts';
import { holdPlaceholders, isPlaceholder, type HeldPlaceholders } from './placeholders.ts';
import type { SandboxAccess, SandboxPaths, Sandbox } from './sandbox.ts';

/** A path that no mount can protect, because it does not exist, is a link, or is a placeholder. */
type UnprotectedPath = MovablePath & {
  /** The state that the user approved while a command was running. */
  accepted?: string | undefined;
  /** True if a placeholder of ours is there. */
  readonly hasPlaceholder?: boolean;
};

/** What was unprotected when the first of the running commands began. */
type Baseline = { readonly unprotected: readonly UnprotectedPath[]; readonly bare: ReadonlySet<string> };

/** Options of withQuarantine. */
type QuarantineOptions = {
  /** True if the sandbox protects existing paths only, so that absent ones need a placeholder to mount over. */
  readonly needsPlaceholders: boolean;
};

const maxSweeps = 3;

/** Wraps a sandbox: its commands leave no such files behind, and no later command starts while one is left. */
export function withQuarantine(
  sandbox: Sandbox,
  paths: SandboxPaths,
  { needsPlaceholders }: QuarantineOptions = { needsPlaceholders: true },
): Sandbox {
  let baseline: Baseline | undefined;
  let running = 0;
  /** Paths that could not be moved away. */
  let remaining: readonly UnprotectedPath[] = [];
  let notices: string[] = [];
  /** Protected paths that running commands may change, with the approval of the user. */
  const approved: string[] = [];

  /** Moves away what was created since the baseline. A running command may create it again, so it is looked for again. */
  const sweep = (origin: string): void => {
    let created: readonly UnprotectedPath[] = [];
    revealFolders([...remaining, ...(baseline?.unprotected ?? [])]);
    for (let round = 0; round <= maxSweeps; round++) {
      created = [...remaining, ...(baseline ? findCreated(baseline, paths.roots) : [])].filter(
        (each) => !approved.includes(each.location) && wasCreated(each),
      );
      if (created.length === 0 || round === maxSweeps) break;
      notices.push(...created.map((each) => quarantinePath(each, paths.quarantine, origin)));
    }
    remaining = [...new Map(created.map((each) => [each.location, each])).values()];
  };
  const stoppedReason = (): string | undefined => {
    remaining = remaining.filter(wasCreated);
    const [first] = remaining;
    return (
      first &&
      `Commands are stopped: a command created ${escapeInvisibleLine(first.location)}, which other programs run or load, and it could not be moved away. Check and remove it, then commands run again.`
    );
  };
  const assertNotStopped = (): void => {
    if (running > 0 || remaining.length > 0) sweep('a command');
    const reason = stoppedReason();
    if (reason === undefined) return;
    // The error replaces the notices about this file.
    notices = [];
    throw new FairleadError('sandbox/stopped', reason, { blame: 'user' });
  };
  const acceptFile = (file: string): void => {
    for (const each of baseline?.unprotected ?? [])
      if (isPathInside(each.location, file)) each.accepted = fingerprint(each.location);
  };
  return {
    ...sandbox,
    stoppedReason,
    acceptFile,
    async exec(command, options, outside) {
      assertNotStopped();
      // A command that only reads cannot create a file.
      if (options.access === 'read') return sandbox.exec(command, options, outside);
      const held = needsPlaceholders ? holdPlaceholders(paths.roots, options.gitDirectories) : noPlaceholders;
      baseline ??= createBaseline(paths, held);
      const exempt = options.unprotected?.length ? approvedPaths(paths, options) : [];
      approved.push(...exempt);
      running += 1;
      const started = sandbox.exec(command, options, outside);
      const finish = (origin: string): void => {
        running -= 1;
        exempt.forEach(acceptFile);
        for (const each of exempt) approved.splice(approved.indexOf(each), 1);
        sweep(origin);
        if (running === 0) baseline = undefined;
        held.release();
      };
      const exitSweep = (): void => finish('this command');
      sweepAtExit(exitSweep);
      let result: ExecResult | undefined;
      try {
        result = await started;
      } finally {
        // A process that was killed may take a moment to exit.
        if (result === undefined || result.stopped) await new Promise((resolve) => setTimeout(resolve, 50));
        pendingSweeps.delete(exitSweep);
        finish(running > 1 ? 'a command' : 'this command');
        if (result && notices.length > 0) {
          result = { ...result, text: [result.text.trimEnd(), ...new Set(notices)].join('\n') };
          notices = [];
        }
      }
      return result;
    },
  };
}

/** Returns the protected paths that a command with this access may change. */
const approvedPaths = ({ roots, home }: SandboxPaths, access: SandboxAccess): readonly string[] =>
  roots.flatMap((root) => protectedPaths(root, home).filter((at) => isApproved(at, root, access)));

const noPlaceholders: HeldPlaceholders = { locations: [], release: () => {} };

/** Sweeps of running commands: they also run when the process exits during a command. */
const pendingSweeps = new Set<() => void>();
let hasExitListener = false;

/** Must be called after the command was started: its kill-at-exit listener is then registered first and runs before the sweep. */
function sweepAtExit(sweep: () => void): void {
  pendingSweeps.add(sweep);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => pendingSweeps.forEach((each) => each()));
}

function createBaseline({ roots, home }: SandboxPaths, { locations }: HeldPlaceholders): Baseline {
  const isHeld = new Set(locations);
  return {
    unprotected: roots.flatMap((root) => {
      const isPresent = createPresenceCheck(root);
      return protectedPaths(root, home).flatMap((at) =>
        isPresent(at) ? unprotectedPathsAt(root, at, isHeld) : [{ root, location: at, linkTarget: undefined }],
      );
    }),
    bare: new Set(roots.flatMap(findConfiguredBareRepositories)),
  };
}

/** A path below a link is watched at its real location. Outside the root no command can create it. */
function unprotectedPathsAt(root: string, at: string, isHeld: ReadonlySet<string>): readonly UnprotectedPath[] {
  const location = findLinkAbove(root, at) === undefined ? at : realPathInside(root, at);
  if (location === undefined) return [];
  const found = lstatIfVisible(location);
  if (found && !found.isSymbolicLink() && !isHeld.has(location)) return [];
  const linkTarget = found?.isSymbolicLink() ? readlinkSync(location) : undefined;
  return [{ root, location, linkTarget, hasPlaceholder: isHeld.has(location) }];
}

function realPathInside(root: string, at: string): string | undefined {
  try {
    const real = path.join(realpathSync(path.dirname(at)), path.basename(at));
    return isPathInside(root, real) ? real : undefined;
  } catch {
    return undefined;
  }
}

/** A folder without search permission hides what was created in it, so its owner gets all permissions back. */
function revealFolders(paths: readonly UnprotectedPath[]): void {
  for (const root of new Set(paths.map((each) => each.root))) {
    revealFolder(root, root);
    const isPresent = createPresenceCheck(root);
    const present = paths.filter((each) => each.root === root && isPresent(each.location));
    const folders = new Set(present.flatMap(({ location }) => foldersBetween(root, location)));
    for (const folder of [...folders].toSorted((a, b) => a.length - b.length)) revealFolder(root, folder);
  }
}

function revealFolder(root: string, folder: string): void {
  const found = lstatIfVisible(folder);
  if (!found?.isDirectory() || (Number(found.mode) & 0o500) === 0o500) return;
  try {
    grantOwnerPermissions(root, folder);
  } catch {
    // It belongs to another user, so a command could not create anything in it.
  }
}

/** Returns the paths that may have been created since the baseline. */
const findCreated = ({ unprotected, bare }: Baseline, roots: readonly string[]): readonly UnprotectedPath[] =>
  roots.flatMap((root) => {
    const isPresent = createPresenceCheck(root);
    return [
      ...unprotected.filter((each) => each.root === root && isPresent(each.location)).map(linkAboveOrPath),
      ...findConfiguredBareRepositories(root)
        .filter((folder) => !bare.has(folder))
        // In the working folder itself, only its HEAD is moved: without it git ignores the rest, which may be files of the user.
        .map((folder) => ({
          root,
          location: folder === root ? path.join(root, 'HEAD') : folder,
          linkTarget: undefined,
        })),
    ];
  });

/** A folder above the path that became a link is moved instead: what it leads to may be outside the root. */
function linkAboveOrPath(unprotected: UnprotectedPath): UnprotectedPath {
  const link = findLinkAbove(unprotected.root, unprotected.location);
  return link === undefined ? unprotected : { root: unprotected.root, location: link, linkTarget: undefined };
}

function wasCreated({ location, linkTarget, accepted, hasPlaceholder }: UnprotectedPath): boolean {
  const found = lstatIfVisible(location);
  if (found === undefined || (hasPlaceholder && isPlaceholder(location))) return false;
  if (found.isSymbolicLink() && readlinkSync(location) === linkTarget) return false;
  return accepted === undefined || accepted !== fingerprint(location);
}

const maxFingerprintEntries = 10_000;

/** Returns a text that differs after every change of a file or folder: the kernel sets the change time, which a command cannot choose. */
function fingerprint(location: string): string | undefined {
  try {
    const names = lstatSync(location).isDirectory() ? readdirSync(location, { recursive: true, encoding: 'utf8' }) : [];
    if (names.length > maxFingerprintEntries) return undefined;
    return ['', ...names.toSorted()]
      .map((name) => {
        const { ino, ctimeNs } = lstatSync(path.join(location, name), { bigint: true });
        return `${name}\0${ino}\0${ctimeNs}`;
      })
      .join('\0');
  } catch {
    return undefined;
  }
}

/** Nothing is deleted: the user may have created it at the same moment. */
function quarantinePath(created: UnprotectedPath, trash: string | undefined, origin: string): string {
  const name = escapeInvisibleLine(created.location);
  const movedTo = moveAside(created, trash);
  return movedTo === undefined
    ? `[${name} was created by ${origin} and could not be moved away. Other programs run or load it, so commands are stopped until the user removes it.]`
    : `[${name} was created by ${origin} and was moved away: other programs run or load it, so only the user may create it, with write_file and an approval. It is kept as ${escapeInvisibleLine(movedTo)}.]`;
}
