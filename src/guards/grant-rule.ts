// The rules of grants: what "allow from now on" covers, and for how long.

/** Resolves a path to its real path. Throws if it is outside the allowed folders. */
export type ResolvePath = (path: string) => string;

/** What a grant covers: exactly one kind of call; commands that begin with some words; any call of a tool; edits of files in the working folder. */
export type GrantRule =
  | { readonly type: 'call'; readonly key: string }
  | { readonly type: 'command'; readonly tool: string; readonly words: readonly string[] }
  | { readonly type: 'tool'; readonly tool: string }
  | { readonly type: 'edits' };

/** How long a grant counts: until the session is closed, or in this project until the user revokes it. */
export type GrantDuration = 'session' | 'project';

/** A rule that the user granted. */
export type Grant = { readonly rule: GrantRule; readonly duration: GrantDuration };

/** Formats what a rule covers. Different rules have different texts. */
export function formatGrantRule(rule: GrantRule): string {
  if (rule.type === 'call') return rule.key;
  if (rule.type === 'edits') return 'edits and new files in this folder';
  if (rule.type === 'tool') return `every call of ${rule.tool}`;
  return `${rule.tool}: commands that begin with ${rule.words.join(' ')}`;
}

/** Whether two rules cover the same. */
export const isSameRule = (a: GrantRule, b: GrantRule): boolean =>
  a.type === b.type && formatGrantRule(a) === formatGrantRule(b);
