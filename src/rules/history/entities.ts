// Things that were named in the words of either side: paths, addresses, issues and identifiers.

/** A kind of thing that words can name. */
export type EntityKind = 'path' | 'url' | 'email' | 'issue' | 'identifier';

/** Something that was named: how often, by whom first, and in which turn last. */
export type Entity = {
  readonly kind: EntityKind;
  readonly count: number;
  readonly by: 'user' | 'model';
  readonly turn: number;
};

/** A name that was found. */
export type Named = { readonly kind: EntityKind; readonly name: string };

/** More of a text is not looked at, and of one text not more is taken: what a fold does at an event must stay small. */
const mostRead = 4000;
const mostFound = 24;
const longest = 200;

const url = /\bhttps?:\/\/[^\s<>"'`)\]]+/g;
const email = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g;
const issue = /(?<![\w&/#])(?:[\w.-]{1,60}\/[\w.-]{1,60})?#\d{1,7}\b/g;
const slashed = /(?<![\w/.~@:-])(?:~\/|\.{0,2}\/)?(?:[\w.@-]+\/){0,20}[\w.@-]+/g;
const endings =
  /^[\w.-]*\w\.(?:c|cc|cpp|cs|css|csv|env|go|h|html|ini|java|js|json|jsonl|jsx|kt|lock|log|md|mjs|cjs|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|vue|xml|ya?ml|zig)$/;
const ticked = /`([A-Za-z_$][\w$.]{1,80}(?:\(\))?)`/g;

/** What these words name, each once. */
export function namedIn(words: string): readonly Named[] {
  const found = new Map<string, Named>();
  const add = (kind: EntityKind, name: string): void => {
    if (found.size < mostFound && name.length <= longest && !found.has(name)) found.set(name, { kind, name });
  };
  let rest = words.slice(0, mostRead);
  const take = (pattern: RegExp, kind: EntityKind): void => {
    rest = rest.replaceAll(pattern, (name) => {
      add(kind, name.replace(/[.,;:!?]+$/, ''));
      return ' ';
    });
  };
  take(url, 'url');
  take(email, 'email');
  take(issue, 'issue');
  for (const [, name = ''] of rest.matchAll(ticked)) if (!endings.test(name)) add('identifier', name);
  for (const [name] of rest.matchAll(slashed)) if (isPath(name)) add('path', name.replace(/\.+$/, ''));
  return [...found.values()];
}

/** A slash alone makes no path (and/or, 1/2): it begins like one, goes deeper, or ends like a file. */
const isPath = (name: string): boolean =>
  endings.test(name.split('/').at(-1) ?? '') ||
  /^(?:~|\.{0,2})\/\w/.test(name) ||
  /^[\w.@-]+(?:\/[\w.@-]+){2}/.test(name);
