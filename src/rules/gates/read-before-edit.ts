// Requires that a file is read before it is edited. A file that the model wrote counts as read.
import { isObject, readView, type Json, type NamedView } from '../../core/index.ts';
import { extractPath, normalizePath } from '../session-stats/file-uses.ts';
import { updateOpenCalls, type OpenCall } from '../session-stats/open-calls.ts';
import { emptyLru, serializeLru, lruGet, restoreLru, lruSet, type LruMap } from '../session-stats/lru-map.ts';
import { defineGate, type GateRule } from './gate-rule.ts';

/** Which tools read, edit and write files, and which argument holds the path. */
export type ReadBeforeEditOptions = {
  /** The name of the rule. */
  readonly name?: string;
  /** Tool name to the name of the argument that holds the path. */
  readonly reads?: Readonly<Record<string, string>>;
  /** The tools that edit, and the argument that has the path. */
  readonly edits?: Readonly<Record<string, string>>;
  /** Tools that write a complete file, whose content is then known. */
  readonly writes?: Readonly<Record<string, string>>;
  /** Returns true if a file exists. With it, overwriting a file that was not read is denied too. */
  readonly exists?: (path: string) => boolean | Promise<boolean>;
};

type KnownFiles = { readonly calls: readonly OpenCall[]; readonly paths: LruMap<number> };

const pathArgument = (map: Readonly<Record<string, string>>, tool: string, input: Json): string | undefined => {
  const field = Object.hasOwn(map, tool) ? map[tool] : undefined;
  const path = field !== undefined && isObject(input) ? input[field] : undefined;
  return typeof path === 'string' && path !== '' ? normalizePath(path) : undefined;
};

/** Denies edits of a file that was not read before. */
export function readBeforeEdit({
  name = 'read-before-edit',
  reads = { read_file: 'path' },
  edits = { edit_file: 'path' },
  writes = { write_file: 'path' },
  exists,
}: ReadBeforeEditOptions = {}): GateRule {
  const known = knownFilesView(`known-files/${name}`, { ...reads, ...edits, ...writes });
  const [reader = 'a tool that reads files'] = Object.keys(reads);
  const [editor = 'edit_file', editorField = 'path'] = Object.entries(edits)[0] ?? [];
  const [writer = 'write_file', writerField = 'path'] = Object.entries(writes)[0] ?? [];
  const input = { [editorField]: 'src/a.ts' };
  return defineGate({
    name,
    description: 'A file must be read before it is edited.',
    views: [known],
    decide: async ({ tool, input: callInput }, state) => {
      const edited = pathArgument(edits, tool, callInput);
      const written = exists && pathArgument(writes, tool, callInput);
      const path = edited ?? (written !== undefined && (await exists?.(written)) ? written : undefined);
      if (path === undefined || lruGet(readView(state, known).paths, path) !== undefined) return undefined;
      return { deny: `${path} was not read before. Read it with ${reader}, then try again.` };
    },
    examples: [
      { title: 'an edit of a file that was not read', call: { tool: editor, input }, decides: 'deny' },
      {
        title: 'an edit of a file that was read',
        history: [{ said: 'go' }, { called: reader, input: { [Object.values(reads)[0] ?? 'path']: './src/a.ts' } }],
        call: { tool: editor, input },
        decides: 'allow',
      },
      {
        title: 'an edit after a read that failed',
        history: [
          { said: 'go' },
          { called: reader, input: { [Object.values(reads)[0] ?? 'path']: 'src/a.ts' }, outcome: 'failed' },
        ],
        call: { tool: editor, input },
        decides: 'deny',
      },
      {
        title: 'an edit of a file that the model wrote',
        history: [{ said: 'go' }, { called: writer, input: { [writerField]: 'src/a.ts' } }],
        call: { tool: editor, input },
        decides: 'allow',
      },
    ],
  });
}

/** Creates a view of the latest files that these tools read or wrote. A file that was evicted must be read again. */
function knownFilesView(name: string, tools: Readonly<Record<string, string>>): NamedView<KnownFiles> {
  return {
    name,
    initial: { calls: [], paths: emptyLru() },
    on(state, event) {
      const calls = updateOpenCalls(state.calls, event);
      const call = event.type === 'tool-ended' ? state.calls.find(({ id }) => id === event.call) : undefined;
      if (event.type !== 'tool-ended' || event.outcome !== 'ok' || !call || !Object.hasOwn(tools, call.tool))
        return { ...state, calls };
      const usedPaths = [pathArgument(tools, call.tool, call.input), extractPath(event.data)].filter(
        (path) => path !== undefined,
      );
      return { calls, paths: usedPaths.reduce((paths, path) => lruSet(paths, path, 1), state.paths) };
    },
    serialize: ({ paths }) => serializeLru(paths),
    restore: (stored) => {
      const paths = restoreLru(stored, 1);
      return paths && { calls: [], paths };
    },
  };
}
