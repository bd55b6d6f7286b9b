// Tells after an edit what became wrong by it, where a language server is running anyway. It never fails the edit and waits only so long.
import {
  isObject,
  isOutput,
  output,
  type Output,
  type Tool,
  type ToolContext,
  type Workspace,
} from '../../core/index.ts';
import { isMissing } from '../text.ts';
import { shownPath } from './places.ts';
import { newIn, problemData, problemLine, problemsOf, type Problem } from './problems.ts';
import type { LanguageServers } from './servers.ts';

/** How edits are looked at. */
export type AfterEditOptions = {
  /** Milliseconds that an edit may take longer, 1,500 unless given; what was wrong before is asked for half as long. */
  readonly waitMs?: number;
  /** Starts a server where none is running, for one that a person wants at every edit. */
  readonly start?: boolean;
};

const mostTold = 10;

/** Wraps a tool that changes a file, so that its result also tells the new problems in that file. */
export const diagnosticsAfter =
  (workspace: Workspace, servers: LanguageServers, options: AfterEditOptions = {}) =>
  (tool: Tool): Tool => {
    const { waitMs = 1500, start = false } = options;
    const look = (path: string, signal: AbortSignal, ms: number): Promise<readonly Problem[] | undefined> =>
      problemsAt(servers, path, start, AbortSignal.any([signal, AbortSignal.timeout(ms)])).catch(() => undefined);
    return {
      ...tool,
      async run(input, context: ToolContext) {
        const { signal } = context;
        const aimed = isObject(input) && typeof input['path'] === 'string' ? input['path'] : undefined;
        const before = aimed === undefined ? undefined : await look(aimed, signal, waitMs / 2);
        const result: unknown = await tool.run(input, context);
        if (!isOutput(result) || result.failed || signal.aborted) return result;
        const path = isObject(result.data) ? result.data['path'] : undefined;
        if (typeof path !== 'string') return result;
        const after = await look(path, signal, waitMs);
        return after ? told(result, shownPath(workspace.cwd, path), before, after) : result;
      },
    };
  };

/** The problems of a file as it is now. A file that is not there yet has none. */
async function problemsAt(
  servers: LanguageServers,
  path: string,
  start: boolean,
  signal: AbortSignal,
): Promise<readonly Problem[] | undefined> {
  if (!servers.knows(path)) return undefined;
  const server = start ? await servers.open(path, signal) : await servers.running(path);
  if (!server) return undefined;
  try {
    return await problemsOf(server, await server.show(path, signal), signal);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function told(result: Output, path: string, before: readonly Problem[] | undefined, after: readonly Problem[]): Output {
  const fresh = newIn(before ?? [], after);
  const data = isObject(result.data)
    ? { data: { ...result.data, problems: fresh.slice(0, mostTold).map(problemData) } }
    : {};
  if (fresh.length === 0) {
    const gone = before?.length && after.length === 0 ? '\nNo problems are left in this file.' : '';
    return output({ ...result, ...data, text: result.text + gone });
  }
  const kind = before ? 'new problem' : 'problem';
  const lines = fresh.slice(0, mostTold).map((each) => `${path}:${problemLine(each)}`);
  const rest = fresh.length > mostTold ? `\n[${fresh.length - mostTold} more are not shown.]` : '';
  return output({
    ...result,
    ...data,
    text: `${result.text}\n${fresh.length} ${kind}${fresh.length === 1 ? '' : 's'}:\n${lines.join('\n')}${rest}`,
  });
}
