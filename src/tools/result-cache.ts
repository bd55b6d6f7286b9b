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
  async function recall(key: string): Promise<ToolOutput | undefined> {
    const kept = results.get(key);
    if (!kept) return undefined;
    results.delete(key);
    if (!(await isSame(kept.sources))) return undefined;
    // The latest is last; the first is evicted next.
    results.set(key, kept);
    return kept.output;
  }

  async function isSame(sources: ReadonlyMap<string, FileStamp>): Promise<boolean> {
    for (const [path, { version }] of sources) {
      const there = await stamped(path);
      if (there?.version !== version) return false;
    }
    return true;
  }

  const stamped = (path: string): Promise<FileStamp | undefined> =>
    Promise.resolve(workspace.stamp?.(path)).catch(() => undefined);

  function keep(key: string, output: ToolOutput, sources: ReadonlyMap<string, FileStamp>): void {
    if (output.failed || outputSize(output) > maxResultChars || sources.size > maxSources) return;
    results.set(key, { output, sources });
    const [oldest] = results.keys();
    if (results.size > maxResults && oldest !== undefined) results.delete(oldest);
  }

  /** Returns the workspace of one call with a record of its sources; undefined if a source cannot be checked again. */
  function watched(): { readonly seen: Workspace; readonly sources: () => ReadonlyMap<string, FileStamp> | undefined } {
    const sources = new Map<string, FileStamp>();
    let certain = true;
    const note = async (path: string): Promise<void> => {
      // Stamped before reading: a change in between then differs from the stamp.
      const there = sources.get(path) ?? (await stamped(path));
      certain &&= there !== undefined && there.modifiedMs < now() - mtimeSettleMs;
      if (there) sources.set(path, there);
    };
    const seen: Workspace = {
      ...workspace,
      async read(path, options) {
        await note(path);
        return workspace.read(path, options);
      },
      async list(path) {
        await note(path);
        return workspace.list(path);
      },
    };
    return { seen, sources: () => (certain ? sources : undefined) };
  }

  return (make) => {
    const plain = make(workspace);
    return {
      ...plain,
      async execute(input, context) {
        const model = context.agent?.provider;
        const key = canonicalJson([plain.name, input, model?.model ?? '', model?.supportsImages ?? null]);
        const known = await recall(key);
        if (known) return known;
        const { seen, sources } = watched();
        const made: unknown = await make(seen).execute(input, context);
        const from = sources();
        if (from && isToolOutput(made)) keep(key, made, from);
        return made;
      },
    };
  };
}

const outputSize = ({ text, files = [] }: ToolOutput): number =>
  text.length + files.reduce((sum, { data }) => sum + data.length, 0);
