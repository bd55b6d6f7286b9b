// Caches results of read-only tools as long as their sources are unchanged. Every file and folder is checked before a result is reused.
import {
  canonicalJson,
  isToolOutput,
  type ToolOutput,
  type FileStamp,
  type Tool,
  type Workspace,
} from '../core/index.ts';

const maxResults = 128;
/** Max characters of a cached result. */
const maxResultChars = 200_000;
/** Max files and folders to check; with more, the work itself is as fast. */
const maxSources = 2000;
/** File systems have coarse timestamps, some of two seconds: a recent change could be followed by another with the same timestamp. */
const mtimeSettleMs = 2500;

type CachedResult = { readonly output: ToolOutput; readonly sources: ReadonlyMap<string, FileStamp> };

/** Options of resultCache. */
export type ResultCacheOptions = {
  /** Returns the time in milliseconds since 1970. */
  readonly now?: () => number;
};

/** Creates read-only tools whose results are cached. A result may depend on the input, on what the tool reads and lists in the workspace, and on the model. */
export function resultCache(
  workspace: Workspace,
  { now = Date.now }: ResultCacheOptions = {},
): (make: (workspace: Workspace) => Tool) => Tool {
  const results = new Map<string, CachedResult>();
  if (!workspace.stamp) return (make) => make(workspace);

  /** Returns the cached result of a call, if it would be the same now. */
  async function findCached(key: string): Promise<ToolOutput | undefined> {
    const cached = results.get(key);
    if (!cached) return undefined;
    results.delete(key);
    if (!(await areUnchanged(cached.sources))) return undefined;
    // The latest is last; the first is evicted next.
    results.set(key, cached);
    return cached.output;
  }

  async function areUnchanged(sources: ReadonlyMap<string, FileStamp>): Promise<boolean> {
    for (const [path, { version }] of sources) {
      const stamp = await readStamp(path);
      if (stamp?.version !== version) return false;
    }
    return true;
  }

  const readStamp = (path: string): Promise<FileStamp | undefined> =>
    Promise.resolve(workspace.stamp?.(path)).catch(() => undefined);

  function store(key: string, output: ToolOutput, sources: ReadonlyMap<string, FileStamp>): void {
    if (output.failed || outputSize(output) > maxResultChars || sources.size > maxSources) return;
    results.set(key, { output, sources });
    const [oldest] = results.keys();
    if (results.size > maxResults && oldest !== undefined) results.delete(oldest);
  }

  /** Returns the workspace of one call with a record of its sources; undefined if a source cannot be checked again. */
  function recordSources(): {
    readonly recording: Workspace;
    readonly sources: () => ReadonlyMap<string, FileStamp> | undefined;
  } {
    const sources = new Map<string, FileStamp>();
    let isCheckable = true;
    const recordSource = async (path: string): Promise<void> => {
      // Stamped before reading: a change in between then differs from the stamp.
      const stamp = sources.get(path) ?? (await readStamp(path));
      isCheckable &&= stamp !== undefined && stamp.modifiedMs < now() - mtimeSettleMs;
      if (stamp) sources.set(path, stamp);
    };
    const recording: Workspace = {
      ...workspace,
      async read(path, options) {
        await recordSource(path);
        return workspace.read(path, options);
      },
      async list(path) {
        await recordSource(path);
        return workspace.list(path);
      },
    };
    return { recording, sources: () => (isCheckable ? sources : undefined) };
  }

  return (make) => {
    const uncached = make(workspace);
    return {
      ...uncached,
      async execute(input, context) {
        const model = context.agent?.provider;
        const key = canonicalJson([uncached.name, input, model?.model ?? '', model?.supportsImages ?? null]);
        const cachedOutput = await findCached(key);
        if (cachedOutput) return cachedOutput;
        const { recording, sources } = recordSources();
        const output: unknown = await make(recording).execute(input, context);
        const sourceStamps = sources();
        if (sourceStamps && isToolOutput(output)) store(key, output, sourceStamps);
        return output;
      },
    };
  };
}

const outputSize = ({ text, files = [] }: ToolOutput): number =>
  text.length + files.reduce((sum, { data }) => sum + data.length, 0);
