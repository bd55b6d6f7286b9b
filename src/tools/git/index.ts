// Git as three tools by what they do to the world: looking, changing the repository, reaching others.
import type { Tool, Workspace } from '../../core/index.ts';
import { gitChange } from './change.ts';
import { gitRead } from './read.ts';
import { gitRemote } from './remote.ts';

/** The git tools on this workspace. */
export const gitTools = (workspace: Workspace): readonly Tool[] => [
  gitRead(workspace),
  gitChange(workspace),
  gitRemote(workspace),
];
