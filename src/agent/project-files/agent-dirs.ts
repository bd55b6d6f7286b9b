// The directories of agent files, in order of precedence: those of the user, then those of the project, nearest first.
import path from 'node:path';
import { projectDirs } from './paths.ts';
import type { ProjectLocation, ResourceDir } from './search-dirs.ts';

/** The format of an agent file: `claude` for `.fairlead/agents` and `.claude/agents`, `opencode` for `.opencode/agents`, `github` for `.github/agents`. */
export type AgentFileFormat = 'claude' | 'opencode' | 'github';

/** A directory of agent files, and their format. */
export type AgentDir = ResourceDir & { readonly format: AgentFileFormat };

type FormatDir = readonly [dir: string, format: AgentFileFormat];

const projectFormats: readonly FormatDir[] = [
  ['.fairlead/agents', 'claude'],
  ['.claude/agents', 'claude'],
  ['.opencode/agents', 'opencode'],
  ['.opencode/agent', 'opencode'],
  ['.github/agents', 'github'],
];

const homeFormats: readonly FormatDir[] = [
  ['.claude/agents', 'claude'],
  ['.config/opencode/agents', 'opencode'],
  ['.config/opencode/agent', 'opencode'],
  ['.copilot/agents', 'github'],
];

/** The directories of agent files. A file in an earlier one hides files of the same name in later ones, so that a project cannot replace an agent of the user. */
export function getAgentDirs({ cwd, home, configDir, stopAt }: ProjectLocation): readonly AgentDir[] {
  const folders = projectDirs(cwd, stopAt);
  const boundary = folders.at(-1) ?? cwd;
  return [
    { folder: path.join(configDir, 'agents'), scope: 'personal', format: 'claude' },
    ...homeFormats.map(([dir, format]): AgentDir => ({ folder: path.join(home, dir), scope: 'personal', format })),
    ...folders.flatMap((folder) =>
      projectFormats.map(([dir, format]): AgentDir => ({
        folder: path.join(folder, dir),
        scope: 'project',
        boundary,
        format,
      })),
    ),
  ];
}
