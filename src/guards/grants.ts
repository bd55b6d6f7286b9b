// Grants: the kinds of call that the user allowed for the rest of this session, in memory, or for this project, in a store.
import { isSameRule, type Grant, type GrantDuration, type GrantRule, type ResolvePath } from './grant-rule.ts';
import { unwrapDeferredCall, canonicalJson, isObject, type ToolCall } from '../core/index.ts';

export type { ResolvePath } from './grant-rule.ts';

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

/** The grants of one session, and those that are kept for its project. */
export type Grants = {
  /** Whether exactly this kind of call is granted. */
  has(key: string): boolean;
  /** Grants a rule, or exactly the kind of call with this key, until the session is closed unless a duration is given. */
  grant(rule: GrantRule | string, duration?: GrantDuration): Promise<void>;
  /** Revokes every grant of this rule, or of the kind of call with this key; returns whether there was one. */
  revoke(rule: GrantRule | string): Promise<boolean>;
  /** Returns all grants: those of the session in the order in which they were granted, then those that are kept. */
  list(): readonly Grant[];
  /** Whether a grant can be kept for the project. */
  readonly canKeep: boolean;
  /** Forgets the grants of the session. */
  clearSession(): void;
  /** Reads the kept grants again if another process changed them. */
  refresh(): Promise<void>;
};

/** Keeps the grants of a project; `permissionsFile` of fairlead/coding-agent is one. */
export type KeptGrants = {
  list(): readonly GrantRule[];
  add(rule: GrantRule): Promise<void>;
  remove(rule: GrantRule): Promise<boolean>;
  refresh(): Promise<void>;
  /** Whether a grant can be kept now; always by default. */
  isUsable?(): boolean;
};

/** Creates the grants of a session. Without `kept`, a grant for the project counts for the session only. */
export function sessionGrants(kept?: KeptGrants): Grants {
  let session: readonly GrantRule[] = [];
  const toRule = (rule: GrantRule | string): GrantRule =>
    typeof rule === 'string' ? { type: 'call', key: rule } : rule;
  const all = (): readonly GrantRule[] => [...session, ...(kept?.list() ?? [])];
  return {
    has: (key) => all().some((rule) => rule.type === 'call' && rule.key === key),
    async grant(given, duration = 'session') {
      const rule = toRule(given);
      if (duration === 'project' && kept) await kept.add(rule);
      else session = [...session.filter((each) => !isSameRule(each, rule)), rule];
    },
    async revoke(given) {
      const rule = toRule(given);
      const before = session.length;
      session = session.filter((each) => !isSameRule(each, rule));
      const wasKept = (await kept?.remove(rule)) ?? false;
      return wasKept || session.length < before;
    },
    list: () => [
      ...session.map((rule) => ({ rule, duration: 'session' }) as const),
      ...(kept?.list() ?? []).map((rule) => ({ rule, duration: 'project' }) as const),
    ],
    get canKeep() {
      return kept !== undefined && kept.isUsable?.() !== false;
    },
    clearSession: () => void (session = []),
    refresh: async () => kept?.refresh(),
  };
}
