// Sequencing: a file is read before it is edited. One that the model itself made counts as read.
import { isObject, readView, type Json, type NamedView } from '../../core/index.ts';
import { pathIn, plainPath } from '../history/file-uses.ts';
import { openCalls, type OpenCall } from '../history/open-calls.ts';
import { emptyShelf, keepShelf, onShelf, restoreShelf, shelve, type Shelf } from '../history/shelf.ts';
import { enforce, type Enforcement } from './enforcement.ts';

/** Which tools read, edit and make files, and where their arguments name the file. */
export type FileTools = {
  readonly name?: string;
  /** A tool and the name of the argument that holds the path. */
  readonly reads?: Readonly<Record<string, string>>;
  readonly edits?: Readonly<Record<string, string>>;
  /** Tools that write a whole file: what they leave is known. */
  readonly writes?: Readonly<Record<string, string>>;
  /** Whether there is a file at a path. With it, writing over one that was not read is stopped too. */
  readonly exists?: (path: string) => boolean | Promise<boolean>;
};

type Known = { readonly calls: readonly OpenCall[]; readonly paths: Shelf<number> };

const argument = (map: Readonly<Record<string, string>>, tool: string, input: Json): string | undefined => {
  const field = Object.hasOwn(map, tool) ? map[tool] : undefined;
  const path = field !== undefined && isObject(input) ? input[field] : undefined;
  return typeof path === 'string' && path !== '' ? plainPath(path) : undefined;
};

/** Refuses to edit a file that was not read before. */
export function readBeforeEdit({
  name = 'read-before-edit',
  reads = { read_file: 'path' },
  edits = { edit_file: 'path' },
  writes = { write_file: 'path' },
  exists,
}: FileTools = {}): Enforcement {
  const known = knownFiles(`known-files/${name}`, { ...reads, ...edits, ...writes });
  const [reader = 'a reading tool'] = Object.keys(reads);
  const [editor = 'edit_file', field = 'path'] = Object.entries(edits)[0] ?? [];
  const [writer = 'write_file', place = 'path'] = Object.entries(writes)[0] ?? [];
  const input = { [field]: 'src/a.ts' };
  return enforce({
    name,
    why: 'A file is read before it is edited.',
    views: [known],
    objection: async ({ tool, input: given }, state) => {
      const edited = argument(edits, tool, given);
      const written = exists && argument(writes, tool, given);
      const path = edited ?? (written !== undefined && (await exists?.(written)) ? written : undefined);
      if (path === undefined || onShelf(readView(state, known).paths, path) !== undefined) return undefined;
      return { deny: `${path} was not read before. Read it with ${reader}, then do this again.` };
    },
    examples: [
      { title: 'an edit of a file nobody read', call: { tool: editor, input }, decides: 'deny' },
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
        title: 'an edit of a file the model made',
        history: [{ said: 'go' }, { called: writer, input: { [place]: 'src/a.ts' } }],
        call: { tool: editor, input },
        decides: 'allow',
      },
    ],
  });
}

/** The files that these tools have read or left, the latest of them: what was forgotten has to be read again. */
function knownFiles(name: string, tools: Readonly<Record<string, string>>): NamedView<Known> {
  return {
    name,
    initial: { calls: [], paths: emptyShelf() },
    on(state, event) {
      const calls = openCalls(state.calls, event);
      const call = event.type === 'tool-ended' ? state.calls.find(({ id }) => id === event.call) : undefined;
      if (event.type !== 'tool-ended' || event.outcome !== 'ok' || !call || !Object.hasOwn(tools, call.tool))
        return { ...state, calls };
      const named = [argument(tools, call.tool, call.input), pathIn(event.data)].filter((path) => path !== undefined);
      return { calls, paths: named.reduce((paths, path) => shelve(paths, path, 1), state.paths) };
    },
    serialize: ({ paths }) => keepShelf(paths),
    restore: (kept) => {
      const paths = restoreShelf(kept, 1);
      return paths && { calls: [], paths };
    },
  };
}
