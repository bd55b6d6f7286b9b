// Public API of the built-in tools. Each is a function of the workspace it uses.
export { resolveToolAlias } from './aliases.ts';
export { askUser, type AskUserHandler, type UserQuestion } from './ask-user.ts';
export { codingTools } from './coding-tools.ts';
export { createBackgroundCommands, type BackgroundCommands } from './shell/background.ts';
export { deferredTools, type DeferredToolsOptions } from './deferred-tools.ts';
export { editFile } from './edit-file.ts';
export { createUnifiedDiff } from './file-change.ts';
export { glob } from './glob.ts';
export { findRipgrepFolders, grep } from './grep.ts';
export { listFiles } from './list-files.ts';
export { readFile } from './read-file.ts';
export { runCommand } from './run-command.ts';
export { sandboxedCommand } from './sandboxed-command.ts';
export { formatTodoList, todoView, type TodoItem, type TodoState } from './todo.ts';
export { createSearchEngine, type SearchEngine, type SearchSettings } from './web/search-engines.ts';
export { webSearch } from './web/web-search.ts';
export { completesInCpuTime, completesInTime } from './with-timeout.ts';
export { writeFile } from './write-file.ts';
