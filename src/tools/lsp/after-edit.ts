// Tells after an edit what became wrong by it, where a language server is running anyway. It never fails the edit and waits only so long.
import { isObject, isToolOutput, toolOutput, type ToolOutput, type Tool, type Workspace } from '../../core/index.ts';
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
/** Files of one edit that are looked at. */
const mostEdited = 5;
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
      async execute(input, context) {
        const { signal } = context;
        const look = (paths: readonly unknown[], ms: number): Promise<Findings> => {
          const given = paths.filter((path) => typeof path === 'string').slice(0, mostEdited);
          return lookAt(servers, workspace, given, start, AbortSignal.any([signal, AbortSignal.timeout(ms)]));
        };
        const before = await look(isObject(input) ? [input['path'], input['paths']].flat() : [], waitMs / 2);
        const result: unknown = await tool.execute(input, context);
        if (!isToolOutput(result) || result.failed || signal.aborted) return result;
        const edited = pathsIn(result.data);
        const after = await look(edited, waitMs);
        return edited.some((path) => after.has(path)) ? told(workspace, result, edited, before, after) : result;
      },
    };
  };

/** The files that an edit changed and left there. */
function pathsIn(data: unknown): readonly string[] {
  if (!isObject(data)) return [];
  const { changes = [data] } = data;
  return (Array.isArray(changes) ? changes : []).flatMap((change: unknown) =>
    isObject(change) && typeof change['path'] === 'string' && change['after'] !== null ? [change['path']] : [],
  );
}

/** What is wrong now in files and in those beside them. Whatever fails here is no matter for the edit. */
async function lookAt(
  servers: LanguageServers,
  workspace: Workspace,
  given: readonly string[],
  start: boolean,
  signal: AbortSignal,
): Promise<Findings> {
  const found = new Map<string, readonly Problem[]>();
  try {
    const seen = new Set<LanguageServer>();
    for (const path of given.map((each) => workspace.locate(each))) {
      const server =
        servers.knows(path) && (start ? await servers.open(path, signal) : await servers.ready(path, signal));
      if (!server) continue;
      seen.add(server);
      await add(server, path, found, signal);
    }
    for (const server of seen) {
      if (!server.live.capabilities['diagnosticProvider']) continue;
      const others = server.shown().filter((each) => !found.has(each.path));
      for (const other of others.slice(0, mostOthers)) await add(server, other.path, found, signal);
    }
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

function told(
  workspace: Workspace,
  result: ToolOutput,
  edited: readonly string[],
  before: Findings,
  after: Findings,
): ToolOutput {
  const fresh = [...after].flatMap(([path, problems]) => {
    const known = before.get(path);
    // Of another file nothing is new unless it is known what was there.
    if (!known && !edited.includes(path)) return [];
    const shown = shownPath(workspace.cwd, path);
    return newIn(known ?? [], problems).map((problem) => ({ shown, problem }));
  });
  const lines = fresh.slice(0, mostTold).map(({ shown, problem }) => `${shown}:${problemLine(problem)}`);
  const rest = fresh.length > mostTold ? [`[${fresh.length - mostTold} more are not shown.]`] : [];
  const wasKnown = edited.every((path) => before.has(path));
  const kind = `${wasKnown ? 'new ' : ''}problem${fresh.length === 1 ? '' : 's'}`;
  const count = (findings: Findings): number =>
    edited.reduce((sum, path) => sum + (findings.get(path)?.length ?? 0), 0);
  const isHealed = count(before) > 0 && edited.every((path) => after.get(path)?.length === 0);
  const healed = isHealed ? [`No problems are left in ${edited.length === 1 ? 'it' : 'them'}.`] : [];
  const added = fresh.length ? [`${fresh.length} ${kind}:`, ...lines, ...rest] : healed;
  const problems = fresh.slice(0, mostTold).map(({ shown, problem }) => problemData(shown, problem));
  const data = isObject(result.data) ? { data: { ...result.data, problems } } : {};
  return toolOutput({ ...result, ...data, text: [result.text, ...added].join('\n') });
}
