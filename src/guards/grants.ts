// Session grants: the exact kinds of call that the user allowed for the rest of this session. They are kept in memory only.
import { unwrapDeferredCall, canonicalJson, isObject, type ToolCall } from '../core/index.ts';

/** Resolves a path to its real path. Throws if it is outside the allowed folders. */
export type ResolvePath = (path: string) => string;

/** Tools whose grant covers a path: a user who always allows writing a file allows any content. */
const pathGrantTools: ReadonlySet<string> = new Set(['read_file', 'write_file', 'edit_file', 'delete_file']);
/** Tools whose grant covers an exact command. */
const commandGrantTools: ReadonlySet<string> = new Set(['run_command', 'execute_sandboxed_command']);

/** What a grant covers: a real path, an exact command, or the complete input. */
export type GrantSubject =
  | { readonly type: 'path'; readonly path: string }
  | { readonly type: 'command'; readonly command: string }
  | { readonly type: 'input'; readonly input: string };

/** Returns the grant subject of a call. */
export function grantSubject({ tool, input }: Pick<ToolCall, 'tool' | 'input'>, locate: ResolvePath): GrantSubject {
  const { path, command, restore } = isObject(input) ? input : {};
  if (commandGrantTools.has(tool) && typeof command === 'string') return { type: 'command', command };
  // A grant to delete a file does not include restoring any earlier content of it.
  if (pathGrantTools.has(tool) && typeof path === 'string' && restore === undefined) {
    try {
      return { type: 'path', path: locate(path) };
    } catch {
      // The real path is unknown, so the grant covers this exact call only.
    }
  }
  return { type: 'input', input: canonicalJson(input) };
}

/** Returns the key of a call, which is all that an "always" grant covers. Never a prefix: a longer command has another key, and so has the same command in another working folder. */
export function grantKey(call: Pick<ToolCall, 'tool' | 'input'>, locate: ResolvePath): string {
  const unwrapped = unwrapDeferredCall(call);
  const target = typeof unwrapped === 'string' ? call : unwrapped;
  const subject = grantSubject(target, locate);
  if (subject.type === 'path') return `${target.tool} ${subject.path}`;
  // A grant for a command covers any timeout, but not the same command in the background or with other options.
  const options = isObject(target.input) ? Object.keys(target.input) : [];
  const isPlainCommand = options.every((name) => name === 'command' || name === 'timeout_s');
  const suffix =
    subject.type === 'command' && isPlainCommand ? `: ${subject.command}` : ` ${canonicalJson(target.input)}`;
  return `${target.tool}${suffix} (in ${locate('.')})`;
}

/** The grants of one session. */
export type Grants = {
  has(kind: string): boolean;
  grant(kind: string): void;
  revoke(kind: string): boolean;
  /** Returns the granted keys in the order in which they were granted. */
  list(): readonly string[];
};

/** Creates an empty set of grants. */
export function sessionGrants(): Grants {
  const kinds = new Set<string>();
  return {
    has: (kind) => kinds.has(kind),
    grant: (kind) => void kinds.add(kind),
    revoke: (kind) => kinds.delete(kind),
    list: () => [...kinds],
  };
}
