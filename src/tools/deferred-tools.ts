// The tools beyond the everyday ones. All are hidden: a model is told their names, and loads what it needs.
import type { Tool, Workspace } from '../core/index.ts';
import { askUser, type AskUserHandler } from './ask-user.ts';
import { canvasRender } from './text-charts/canvas-render.ts';
import { runCode } from './run-code/run-code.ts';
import { deleteFile } from './delete-file.ts';
import { gitTools } from './git/index.ts';
import { applyPatch } from './patch/apply-patch.ts';
import { todo } from './todo.ts';
import { httpRequest } from './web/http-request.ts';
import type { SearchEngine } from './web/search-engines.ts';
import { webFetch } from './web/web-fetch.ts';
import { webSearch } from './web/web-search.ts';

/** What the tools are made from. */
export type DeferredToolsOptions = {
  /** With a `fetch` there are tools for the web, with a `remove` one that deletes. */
  readonly workspace: Workspace;
  /** Where git runs, if not there: in a sandbox it sees neither who the person is nor any server, and it needs none, for it runs nothing of a repository. */
  readonly gitWorkspace?: Workspace;
  /** With an engine there is a search of the web. */
  readonly search?: SearchEngine;
  /** With a person there is a way to ask them. */
  readonly ask?: AskUserHandler;
};

/** All further tools that these options allow. What they need of libraries is loaded when one of them runs. */
export const deferredTools = ({
  workspace,
  gitWorkspace = workspace,
  search,
  ask,
}: DeferredToolsOptions): readonly Tool[] =>
  [
    applyPatch(workspace),
    ...('remove' in workspace ? [deleteFile(workspace)] : []),
    ...gitTools(gitWorkspace),
    ...('fetch' in workspace ? [webFetch(workspace), httpRequest(workspace)] : []),
    ...('fetch' in workspace && search ? [webSearch(workspace, search)] : []),
    runCode,
    todo,
    canvasRender,
    ...(ask ? [askUser(ask)] : []),
  ].map((tool) => ({ ...tool, deferred: true }));
