// What a person allowed for the rest of this session: exact kinds of call, nothing wider, forgotten with the process.
import { unwrapDeferredCall, canonicalJson, isObject, type ToolCall } from '../core/index.ts';

/** Tells where a path really leads; throws where that is nowhere it may lead. */
export type ResolvePath = (path: string) => string;

/** Tools for which the path says it all: who may always write a file may write anything into it. */
const pathGrantTools: ReadonlySet<string> = new Set(['read_file', 'write_file', 'edit_file', 'delete_file']);
/** Tools for which the command says it all. */
const commandGrantTools: ReadonlySet<string> = new Set(['run_command', 'execute_sandboxed_command']);

/** What a call is about: a real path, an exact command, or all of its input. */
export type GrantSubject =
  | { readonly type: 'path'; readonly path: string }
  | { readonly type: 'command'; readonly command: string }
  | { readonly type: 'input'; readonly input: string };

/** What this call is about. */
export function grantSubject({ tool, input }: Pick<ToolCall, 'tool' | 'input'>, locate: ResolvePath): GrantSubject {
  const { path, command, restore } = isObject(input) ? input : {};
  if (commandGrantTools.has(tool) && typeof command === 'string') return { type: 'command', command };
  // Who may always delete a file may not therefore bring back whatever it once held.
  if (pathGrantTools.has(tool) && typeof path === 'string' && restore === undefined) {
    try {
      return { type: 'path', path: locate(path) };
    } catch {
      // Where it leads is not known, so nothing but this very call may be meant.
    }
  }
  return { type: 'input', input: canonicalJson(input) };
}

/** The exact kind of a call, which is all that an "always" covers. Never a prefix: a longer command is another kind, and so is the same one in another working folder. */
export function grantKey(call: Pick<ToolCall, 'tool' | 'input'>, locate: ResolvePath): string {
  const meant = unwrapDeferredCall(call);
  const aim = typeof meant === 'string' ? call : meant;
  const subject = grantSubject(aim, locate);
  if (subject.type === 'path') return `${aim.tool} ${subject.path}`;
  const what = subject.type === 'command' ? `: ${subject.command}` : ` ${subject.input}`;
  return `${aim.tool}${what} (in ${locate('.')})`;
}

/** The kinds that were granted in this session. */
export type Grants = {
  has(kind: string): boolean;
  grant(kind: string): void;
  revoke(kind: string): boolean;
  /** In the order in which they were granted. */
  list(): readonly string[];
};

/** Grants of one session, none to begin with. */
export function sessionGrants(): Grants {
  const kinds = new Set<string>();
  return {
    has: (kind) => kinds.has(kind),
    grant: (kind) => void kinds.add(kind),
    revoke: (kind) => kinds.delete(kind),
    list: () => [...kinds],
  };
}
