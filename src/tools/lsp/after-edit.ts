// Reports new diagnostics after an edit, if a language server is running. It never fails the edit, and waits for a limited time.
import { isObject, isToolOutput, toolOutput, type ToolOutput, type Tool, type Workspace } from '../../core/index.ts';
import { isNotFoundError } from '../text.ts';
import { displayPath } from './locations.ts';
import { newDiagnostics, diagnosticData, formatDiagnostic, getDiagnostics, type LspDiagnostic } from './diagnostics.ts';
import type { LanguageServers } from './servers.ts';
import type { LanguageServer } from './server-lifecycle.ts';

/** Options of withDiagnostics. */
export type AfterEditOptions = {
  /** Milliseconds to wait after an edit, default 1,500; half as long before it, to know the existing diagnostics. */
  readonly waitMs?: number;
  /** Starts a server if none is running, for users who want diagnostics after every edit. */
  readonly start?: boolean;
};

const maxReported = 10;
/** Max files of one edit that are checked. */
const maxEditedFiles = 5;
/** Max other open documents that are checked, the latest first. */
const maxOtherDocuments = 4;

/** Diagnostics by path, as far as time allowed. */
type DiagnosticsByPath = ReadonlyMap<string, readonly LspDiagnostic[]>;

/** Wraps a tool that changes files: its result also lists new diagnostics in those files and in the latest open documents. */
export const withDiagnostics =
  (workspace: Workspace, servers: LanguageServers, options: AfterEditOptions = {}) =>
  (tool: Tool): Tool => {
    const { waitMs = 1500, start = false } = options;
    return {
      ...tool,
      async execute(input, context) {
        const { signal } = context;
        const look = (paths: readonly unknown[], ms: number): Promise<DiagnosticsByPath> => {
          const given = paths.filter((path) => typeof path === 'string').slice(0, maxEditedFiles);
          return collectDiagnostics(
            servers,
            workspace,
            given,
            start,
            AbortSignal.any([signal, AbortSignal.timeout(ms)]),
          );
        };
        const before = await look(isObject(input) ? [input['path'], input['paths']].flat() : [], waitMs / 2);
        const result: unknown = await tool.execute(input, context);
        if (!isToolOutput(result) || result.failed || signal.aborted) return result;
        const edited = changedPaths(result.data);
        const after = await look(edited, waitMs);
        return edited.some((path) => after.has(path))
          ? appendNewDiagnostics(workspace, result, edited, before, after)
          : result;
      },
    };
  };

/** Returns the paths that an edit changed and did not delete. */
function changedPaths(data: unknown): readonly string[] {
  if (!isObject(data)) return [];
  const { changes = [data] } = data;
  return (Array.isArray(changes) ? changes : []).flatMap((change: unknown) =>
    isObject(change) && typeof change['path'] === 'string' && change['after'] !== null ? [change['path']] : [],
  );
}

/** Collects the diagnostics of files and other open documents. Failures here do not affect the edit. */
async function collectDiagnostics(
  servers: LanguageServers,
  workspace: Workspace,
  given: readonly string[],
  start: boolean,
  signal: AbortSignal,
): Promise<DiagnosticsByPath> {
  const found = new Map<string, readonly LspDiagnostic[]>();
  try {
    const seen = new Set<LanguageServer>();
    for (const path of given.map((each) => workspace.locate(each))) {
      const server =
        servers.supports(path) && (start ? await servers.open(path, signal) : await servers.getIfReady(path, signal));
      if (!server) continue;
      seen.add(server);
      await addDiagnostics(server, path, found, signal);
    }
    for (const server of seen) {
      if (!server.connection.capabilities['diagnosticProvider']) continue;
      const others = server.openDocuments().filter((each) => !found.has(each.path));
      for (const other of others.slice(0, maxOtherDocuments)) await addDiagnostics(server, other.path, found, signal);
    }
  } catch {
    // Timeout, no response or no such path: what was found so far counts.
  }
  return found;
}

/** A file that does not exist yet has no diagnostics. */
async function addDiagnostics(
  server: LanguageServer,
  path: string,
  found: Map<string, readonly LspDiagnostic[]>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const problems = await getDiagnostics(server, await server.openDocument(path, signal), signal);
    if (problems) found.set(path, problems);
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
    found.set(path, []);
  }
}

function appendNewDiagnostics(
  workspace: Workspace,
  result: ToolOutput,
  edited: readonly string[],
  before: DiagnosticsByPath,
  after: DiagnosticsByPath,
): ToolOutput {
  const fresh = [...after].flatMap(([path, problems]) => {
    const known = before.get(path);
    // In another file nothing counts as new unless the earlier diagnostics are known.
    if (!known && !edited.includes(path)) return [];
    const shown = displayPath(workspace.cwd, path);
    return newDiagnostics(known ?? [], problems).map((problem) => ({ shown, problem }));
  });
  const lines = fresh.slice(0, maxReported).map(({ shown, problem }) => `${shown}:${formatDiagnostic(problem)}`);
  const rest = fresh.length > maxReported ? [`[${fresh.length - maxReported} more are not shown.]`] : [];
  const wasKnown = edited.every((path) => before.has(path));
  const kind = `${wasKnown ? 'new ' : ''}problem${fresh.length === 1 ? '' : 's'}`;
  const count = (findings: DiagnosticsByPath): number =>
    edited.reduce((sum, path) => sum + (findings.get(path)?.length ?? 0), 0);
  const isHealed = count(before) > 0 && edited.every((path) => after.get(path)?.length === 0);
  const healed = isHealed ? [`No problems remain in ${edited.length === 1 ? 'it' : 'them'}.`] : [];
  const added = fresh.length ? [`${fresh.length} ${kind}:`, ...lines, ...rest] : healed;
  const problems = fresh.slice(0, maxReported).map(({ shown, problem }) => diagnosticData(shown, problem));
  const data = isObject(result.data) ? { data: { ...result.data, problems } } : {};
  return toolOutput({ ...result, ...data, text: [result.text, ...added].join('\n') });
}
