// The tools that are in every request of a coding agent: files, search and commands.
import type { Tool, Workspace } from '../core/index.ts';
import type { BackgroundCommands } from './shell/background.ts';
import { backgroundTools } from './shell/background-tools.ts';
import { editFile } from './edit-file.ts';
import { glob } from './glob.ts';
import { grep, type GrepOptions } from './grep.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { resultCache } from './result-cache.ts';
import { runCommand } from './run-command.ts';
import { writeFile } from './write-file.ts';

/** Options of codingTools. */
export type CodingToolsOptions = GrepOptions & {
  /** The tool that runs commands, instead of `run_command`; it has no background commands. */
  readonly commandTool?: Tool;
};

/** Returns the tools of a coding agent on this workspace; with background commands, also the tools that manage them. */
export const codingTools = (
  workspace: Workspace,
  background?: BackgroundCommands,
  { commandTool, ...search }: CodingToolsOptions = {},
): readonly Tool[] => {
  const createCached = resultCache(workspace);
  return [
    createCached(readFile),
    writeFile(workspace),
    editFile(workspace),
    createCached(listFiles),
    createCached(glob),
    grep(workspace, search),
    commandTool ?? runCommand(workspace, background),
    ...(background && !commandTool ? backgroundTools(background) : []),
  ];
};
