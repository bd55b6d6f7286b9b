// The deferred tools: their schemas are not in requests. The model sees their names and loads what it needs.
import type { Tool, Workspace } from '../core/index.ts';
import { askUser, type AskUserHandler } from './ask-user.ts';
import { canvasRender } from './text-charts/canvas-render.ts';
import { runCode } from './run-code/run-code.ts';
import { deleteFile } from './delete-file.ts';
import { gitTools, type GitWorkspaces } from './git/index.ts';
import { applyPatch } from './patch/apply-patch.ts';
import { todo } from './todo.ts';
import { httpRequest } from './web/http-request.ts';
import type { SearchEngine } from './web/search-engines.ts';
import { webFetch } from './web/web-fetch.ts';
import { webSearch } from './web/web-search.ts';

/** Options of deferredTools. */
export type DeferredToolsOptions = {
  /** If it has `fetch`, the web tools are included; if it has `remove`, the delete tool. */
  readonly workspace: Workspace;
  /** Where git runs, if elsewhere: reading in a sandbox; other operations need the identity of the user or a server. */
  readonly git?: GitWorkspaces;
  /** Adds the web search tool. */
  readonly search?: SearchEngine;
  /** Adds the ask_user tool. */
  readonly ask?: AskUserHandler;
};

/** Returns all deferred tools that these options allow. Their libraries are loaded on first use. */
export const deferredTools = ({
  workspace,
  git = { read: workspace, change: workspace, isConfined: false },
  search,
  ask,
}: DeferredToolsOptions): readonly Tool[] =>
  [
    applyPatch(workspace),
    ...('remove' in workspace ? [deleteFile(workspace)] : []),
    ...gitTools(git),
    ...('fetch' in workspace ? [webFetch(workspace), httpRequest(workspace)] : []),
    ...('fetch' in workspace && search ? [webSearch(workspace, search)] : []),
    runCode,
    todo,
    canvasRender,
    ...(ask ? [askUser(ask)] : []),
  ].map((tool) => ({ ...tool, deferred: true }));
