// Extracts entities from text of the user and the model: paths, URLs, issues and identifiers.

/** A kind of entity. */
export type EntityKind = 'path' | 'url' | 'email' | 'issue' | 'identifier';

/** An entity: how often it was mentioned, whether the user or the model mentioned it first, and in which turn it was mentioned last. */
export type Entity = {
  readonly kind: EntityKind;
  readonly count: number;
  readonly by: 'user' | 'model';
  readonly turn: number;
};

/** An entity found in a text. */
export type NamedEntity = { readonly kind: EntityKind; readonly name: string };

/** Max characters scanned and max entities per text: the cost of one event must stay small. */
const maxScannedChars = 4000;
const maxEntities = 24;
const maxNameLength = 200;

const urlPattern = /\bhttps?:\/\/[^\s<>"'`)\]]+/g;
const emailPattern = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g;
const issuePattern = /(?<![\w&/#])(?:[\w.-]{1,60}\/[\w.-]{1,60})?#\d{1,7}\b/g;
const pathPattern = /(?<![\w/.~@:-])(?:~\/|\.{0,2}\/)?(?:[\w.@-]+\/){0,20}[\w.@-]+/g;
const fileNamePattern =
  /^[\w.-]*\w\.(?:c|cc|cpp|cs|css|csv|env|go|h|html|ini|java|js|json|jsonl|jsx|kt|lock|log|md|mjs|cjs|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|vue|xml|ya?ml|zig)$/;
const backtickPattern = /`([A-Za-z_$][\w$.]{1,80}(?:\(\))?)`/g;

/** Returns the entities in a text, without duplicates. */
export function extractEntities(text: string): readonly NamedEntity[] {
  const found = new Map<string, NamedEntity>();
  const add = (kind: EntityKind, name: string): void => {
    if (found.size < maxEntities && name.length <= maxNameLength && !found.has(name)) found.set(name, { kind, name });
  };
  let rest = text.slice(0, maxScannedChars);
  const extract = (pattern: RegExp, kind: EntityKind): void => {
    rest = rest.replaceAll(pattern, (name) => {
      add(kind, name.replace(/[.,;:!?]+$/, ''));
      return ' ';
    });
  };
  extract(urlPattern, 'url');
  extract(emailPattern, 'email');
  extract(issuePattern, 'issue');
  for (const [, name = ''] of rest.matchAll(backtickPattern)) if (!fileNamePattern.test(name)) add('identifier', name);
  for (const [name] of rest.matchAll(pathPattern)) if (isPathLike(name)) add('path', name.replace(/\.+$/, ''));
  return [...found.values()];
}

/** A slash alone does not make a path (and/or, 1/2): a path starts like one, has more segments, or ends with an extension. */
const isPathLike = (name: string): boolean =>
  fileNamePattern.test(name.split('/').at(-1) ?? '') ||
  /^(?:~|\.{0,2})\/\w/.test(name) ||
  /^[\w.@-]+(?:\/[\w.@-]+){2}/.test(name);
