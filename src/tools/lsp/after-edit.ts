// Tells after an edit what became wrong by it, where a language server is running anyway. It never fails the edit and waits only so long.
import { isObject, isOutput, output, type Output, type Tool, type Workspace } from '../../core/index.ts';
import { isMissing } from '../text.ts';
import { shownPath } from './places.ts';
import { newIn, problemData, problemLine, problemsOf, type Problem } from './problems.ts';
import type { LanguageServers } from './servers.ts';
import type { LanguageServer } from './slot.ts';

/** How edits are looked at. */
export type AfterEditOptions = {
  /** Milliseconds that are waited after an edit, 1,500 unless given; before it, to know what was wrong already, half as many. */
  readonly waitMs?: number;
  /** Starts a server where none is running, for one that a person wants at every edit. */
  readonly start?: boolean;
};

const mostTold = 10;
/** Other documents that are looked at too: those that the server was shown last. */
const mostOthers = 4;

/** The problems of files by path, as far as there was time. */
type Findings = ReadonlyMap<string, readonly Problem[]>;

/** Wraps a tool that changes a file, so that its result also tells the new problems there and in the files that were asked about last. */
export const diagnosticsAfter =
  (workspace: Workspace, servers: LanguageServers, options: AfterEditOptions = {}) =>
  (tool: Tool): Tool => {
    const { waitMs = 1500, start = false } = options;
    return {
      ...tool,
      async run(input, context) {
        const { signal } = context;
        const look = async (path: unknown, ms: number): Promise<Findings> => {
          const soon = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
          return typeof path === 'string' ? lookAt(servers, workspace, path, start, soon) : new Map();
        };
        const before = await look(isObject(input) ? input['path'] : undefined, waitMs / 2);
        const result: unknown = await tool.run(input, context);
        if (!isOutput(result) || result.failed || !isObject(result.data) || signal.aborted) return result;
        const { path } = result.data;
        const after = await look(path, waitMs);
        return typeof path === 'string' && after.has(path) ? told(workspace, result, path, before, after) : result;
      },
    };
  };

/** What is wrong now in a file and in those beside it. Whatever fails here is no matter for the edit. */
async function lookAt(
  servers: LanguageServers,
  workspace: Workspace,
  given: string,
  start: boolean,
  signal: AbortSignal,
): Promise<Findings> {
  const found = new Map<string, readonly Problem[]>();
  try {
    const path = workspace.locate(given);
    const server = servers.knows(path) && (start ? await servers.open(path, signal) : await servers.running(path));
    if (!server) return found;
    await add(server, path, found, signal);
    if (!server.live.capabilities['diagnosticProvider']) return found;
    const others = server.shown().filter((each) => each.path !== path);
    for (const other of others.slice(0, mostOthers)) await add(server, other.path, found, signal);
  } catch {
    // No time, no answer, no such path: what was found so far counts.
  }
  return found;
}

/** A file that is not there yet has no problems. */
async function add(
  server: LanguageServer,
  path: string,
  found: Map<string, readonly Problem[]>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const problems = await problemsOf(server, await server.show(path, signal), signal);
    if (problems) found.set(path, problems);
  } catch (error) {
    if (!isMissing(error)) throw error;
    found.set(path, []);
  }
}

function told(workspace: Workspace, result: Output, edited: string, before: Findings, after: Findings): Output {
  const fresh = [...after].flatMap(([path, problems]) => {
    const known = before.get(path);
    // Of another file nothing is new unless it is known what was there.
    if (!known && path !== edited) return [];
    const shown = shownPath(workspace.cwd, path);
    return newIn(known ?? [], problems).map((problem) => ({ shown, problem }));
  });
  const lines = fresh.slice(0, mostTold).map(({ shown, problem }) => `${shown}:${problemLine(problem)}`);
  const rest = fresh.length > mostTold ? [`[${fresh.length - mostTold} more are not shown.]`] : [];
  const kind = `${before.has(edited) ? 'new ' : ''}problem${fresh.length === 1 ? '' : 's'}`;
  const healed = before.get(edited)?.length && after.get(edited)?.length === 0 ? ['No problems are left in it.'] : [];
  const added = fresh.length ? [`${fresh.length} ${kind}:`, ...lines, ...rest] : healed;
  const problems = fresh.slice(0, mostTold).map(({ shown, problem }) => problemData(shown, problem));
  const data = isObject(result.data) ? { data: { ...result.data, problems } } : {};
  return output({ ...result, ...data, text: [result.text, ...added].join('\n') });
}
