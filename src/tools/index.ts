// Public API of the built-in tools. Each is a function of the workspace it uses.
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
import { sandboxedCommand } from './sandboxed-command.ts';
import { writeFile } from './write-file.ts';

export { resolveToolAlias } from './aliases.ts';
export { askUser, type AskUserHandler, type UserQuestion } from './ask-user.ts';
export { createBackgroundCommands, type BackgroundCommands } from './shell/background.ts';
export { deferredTools, type DeferredToolsOptions } from './deferred-tools.ts';
export { formatTodoList, todoView, type TodoItem, type TodoState } from './todo.ts';
export { createSearchEngine, type SearchEngine, type SearchSettings } from './web/search-engines.ts';
export { webSearch } from './web/web-search.ts';
export { editFile, glob, grep, listFiles, readFile, runCommand, sandboxedCommand, writeFile };

/** Returns the tools of a coding agent on this workspace; with background commands, also the tools that manage them. */
export const codingTools = (
  workspace: Workspace,
  background?: BackgroundCommands,
  search: GrepOptions = {},
): readonly Tool[] => {
  const kept = resultCache(workspace);
  return [
    kept(readFile),
    ...[writeFile, editFile].map((make) => make(workspace)),
    ...[listFiles, glob].map(kept),
    grep(workspace, search),
    runCommand(workspace, background),
    ...(background ? backgroundTools(background) : []),
  ];
};
export { completesInTime } from './with-timeout.ts';
