// Results of reading tools, given again without the work while all that they were made from is as it was. Nothing is believed: every file and folder is asked.
import {
  canonicalJson,
  isToolOutput,
  type ToolOutput,
  type FileStamp,
  type Tool,
  type Workspace,
} from '../core/index.ts';

const maxResults = 128;
/** Characters of one result that are still worth keeping. */
const maxResultChars = 200_000;
/** Files and folders that are asked before a result is given again; with more of them the work itself is as quick. */
const maxSources = 2000;
/** File systems tell time in steps, some of two seconds: what changed just now may change again without showing it. */
const mtimeSettleMs = 2500;

type CachedResult = { readonly output: ToolOutput; readonly sources: ReadonlyMap<string, FileStamp> };

/** How results are kept. */
export type ResultCacheOptions = {
  /** The time, in milliseconds since 1970. */
  readonly now?: () => number;
};

/** Makes reading tools on a workspace whose results are kept. A tool's result may depend on its input, on what it reads and lists there, and on which model it is for. */
export function resultCache(
  workspace: Workspace,
  { now = Date.now }: ResultCacheOptions = {},
): (make: (workspace: Workspace) => Tool) => Tool {
  const results = new Map<string, CachedResult>();
  if (!workspace.stamp) return (make) => make(workspace);

  /** The kept result of a call, if it would come out the same. */
  async function recall(key: string): Promise<ToolOutput | undefined> {
    const kept = results.get(key);
    if (!kept) return undefined;
    results.delete(key);
    if (!(await isSame(kept.sources))) return undefined;
    // The latest stands last: the first is the next to go.
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

  /** The workspace as one call sees it, with what it was shown; nothing where that cannot be told again. */
  function watched(): { readonly seen: Workspace; readonly sources: () => ReadonlyMap<string, FileStamp> | undefined } {
    const sources = new Map<string, FileStamp>();
    let certain = true;
    const note = async (path: string): Promise<void> => {
      // Before it is read: what changes in between differs from what is noted.
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
