// Where the git tools of a coding agent run: in the sandbox of its commands, with a private folder for connections; as the user without a sandbox.
import type { Workspace } from '../core/index.ts';
import {
  findGitDirectories,
  findProtectedFiles,
  findRepositoryFolders,
  findUserGitFiles,
  withSandbox,
  type Sandbox,
} from '../guards/index.ts';
import type { GitWorkspaces } from '../tools/git/index.ts';

/** Options of createGitWorkspaces. */
export type GitWorkspacesOptions = {
  /** The workspace, without a sandbox. */
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly home: string;
  /** The folder of private repositories. */
  readonly privateFolder: string;
  readonly notify: (text: string) => void;
};

/** Returns where the git tools run. */
export function createGitWorkspaces(options: GitWorkspacesOptions): GitWorkspaces {
  const { workspace, sandbox, home, privateFolder, notify } = options;
  const findFolders = (): readonly string[] => findRepositoryFolders(workspace.cwd, home);
  const read = withSandbox(workspace, sandbox, { access: 'read', notify, findReadable: findFolders });
  const findProtected = (files: readonly string[]): readonly string[] =>
    findProtectedFiles(files, { root: workspace.cwd, home });
  if (sandbox.name === 'none') return { read, isConfined: false, change: workspace, findProtected };
  return {
    read,
    findProtected,
    isConfined: true,
    change: workspace,
    sandbox: {
      open: ({ readable = [], ...access }) =>
        withSandbox(workspace, sandbox, {
          ...access,
          network: false,
          writesGit: true,
          notify,
          findReadable: () => [...findFolders(), ...readable],
          findGitDirectories: () => findGitDirectories(workspace.cwd),
        }),
      findUserFiles: () => findUserGitFiles({ home, roots: [workspace.cwd] }),
      findHidden: () => sandbox.findHidden?.() ?? [],
      privateFolder,
    },
  };
}
