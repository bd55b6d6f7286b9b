// Which folders a sandboxed command sees: the system and the user's tools, never keys, and auto-executed files read-only.
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import type { SandboxPaths } from './sandbox.ts';

/** Folders that programs need to run. No folder that grows and no sockets: /run, /var, /home, /root and others are not visible. */
export const systemFolders = (): readonly string[] =>
  ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix', '/gnu'].filter((each) =>
    existsSync(each),
  );

/** System files with secrets, which root could read inside as well as outside. */
export const systemSecretFiles = (): readonly string[] =>
  [
    'shadow',
    'shadow-',
    'gshadow',
    'gshadow-',
    'sudoers',
    'krb5.keytab',
    'ssh/ssh_host_rsa_key',
    'ssh/ssh_host_ecdsa_key',
    'ssh/ssh_host_ed25519_key',
  ]
    .map((name) => `/etc/${name}`)
    .filter((each) => existsSync(each));

/** Folders in a home folder that contain tools and no keys. */
const homeToolFolders = [
  '.rustup',
  '.cargo/registry',
  '.local/lib',
  '.local/share/uv',
  '.local/share/mise',
  '.local/share/pnpm',
  '.pyenv',
  '.rbenv',
  '.asdf',
  '.volta',
  '.sdkman',
  '.nvm',
];

/** Returns the folders of tools that are not part of the system: the folders on PATH, each with the installation around its `bin`. */
export function toolFolders({ home, path: search, roots }: SandboxPaths): readonly string[] {
  const isVisible = (each: string): boolean =>
    [...systemFolders(), ...roots].some((folder) => isPathInside(folder, each)) ||
    roots.some((root) => isPathInside(each, root));
  const onPath = search
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder) && existsSync(folder) && !isPathInside('/tmp', folder))
    .map((folder) => installationRoot(path.normalize(folder), home));
  const homeFolders = homeToolFolders.map((name) => path.join(home, name)).filter((each) => existsSync(each));
  return [...new Set([...homeFolders, ...onPath])].filter(
    (each) => !isVisible(each) && !isPathInside(each, home) && each !== '/',
  );
}

/** `x/bin` is used with `x/lib`. But a folder directly in the home folder, such as `.local` or `.cargo`, may hold keys beside its programs. */
function installationRoot(folder: string, home: string): string {
  const parent = path.dirname(folder);
  const isSafe = path.basename(folder) === 'bin' && !isPathInside(parent, home) && parent !== '/';
  return isSafe && !(path.dirname(parent) === home && path.basename(parent).startsWith('.')) ? parent : folder;
}

/** A mount point inside a root. `--bind` leaves it writable, but it can no longer be moved. */
type ProtectedMount = { readonly mountPoint: string; readonly bindOption: '--bind' | '--ro-bind' };

/** Files that other programs, including Fairlead, execute or load without asking. */
export const autoExecutedPaths: readonly string[] = [
  '.gitmodules',
  '.fairlead',
  '.mcp.json',
  '.env',
  '.envrc',
  '.claude',
  '.agents',
  'custom_tools',
  '.vscode',
  '.idea',
];
/** Files that configure a repository. `commondir` and `config.worktree` refer to configuration too. */
const gitControlPaths = ['config', 'config.worktree', 'commondir', 'hooks', 'modules', 'info'];
const shellStartupFiles = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.gitconfig',
  '.config',
];

/** Returns the paths of a root that no command may create or change, whether they exist or not. */
export function protectedPaths(root: string, home: string): readonly string[] {
  const gitPaths = isDirectory(path.join(root, '.git')) ? gitControlPaths.map((part) => `.git/${part}`) : ['.git'];
  const homePaths = isPathInside(root, home) ? shellStartupFiles.map((name) => path.join(home, name)) : [];
  return [...[...autoExecutedPaths, ...gitPaths].map((name) => path.join(root, name)), ...homePaths];
}

/** Returns what is mounted read-only in this root. */
export function readOnlyMounts(root: string, home: string): readonly ProtectedMount[] {
  const git = path.join(root, '.git');
  return [
    ...(isDirectory(git) ? [{ mountPoint: git, bindOption: '--bind' } as const] : []),
    ...protectedPaths(root, home)
      .flatMap((protectedPath) => resolveInRoot(root, protectedPath))
      .map((at) => ({ mountPoint: at, bindOption: '--ro-bind' }) as const),
  ];
}

const isDirectory = (at: string): boolean => lstatSync(at, { throwIfNoEntry: false })?.isDirectory() === true;

/** A link is not mounted over. Its target counts if it is inside the root; otherwise it is not visible anyway. */
function resolveInRoot(root: string, at: string): readonly string[] {
  if (!existsSync(at)) return [];
  const real = realpathSync(at);
  return real !== root && isPathInside(root, real) ? [real] : [];
}

const credentialFolders = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  '.docker',
  '.azure',
  '.password-store',
  '.config/gh',
  '.config/gcloud',
  '.local/share/keyrings',
  '.mozilla',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.git-credentials',
];

/** Returns the paths that are hidden even inside a root: keys of the home folder, and what the caller hides. */
export function hiddenPaths({
  roots,
  home,
  hidden = [],
}: SandboxPaths): readonly { readonly at: string; readonly file: boolean }[] {
  const candidates = [...credentialFolders.map((name) => path.join(home, name)), ...hidden];
  return candidates
    .filter((each) => existsSync(each) && roots.some((root) => isPathInside(root, each) && root !== each))
    .map((each) => realpathSync(each))
    .filter((each) => roots.some((root) => isPathInside(root, each)))
    .map((at) => ({ at, file: !lstatSync(at).isDirectory() }));
}
