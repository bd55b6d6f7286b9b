// The permission rules of `.claude/settings.json` as rules of a policy: deny and ask hold at once, because they only tighten; allow is not taken over.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, isObject, systemErrorCode } from '../core/index.ts';
import { policyError, type PolicyMatcher, type PolicyRule } from '../guards/index.ts';
import { resolveForeignTools } from '../tools/index.ts';
import type { PermissionFile } from './foreign-permission-files.ts';

const maxFileBytes = 1_000_000;
const maxEntryChars = 4096;
/** How many characters of an entry a question or a denial shows: the text of a project, which the model reads too. */
const maxShownChars = 200;
const strictEffects = ['deny', 'ask'] as const;

/** Tools that read one file or search files; a rule about reading is about every tool that names the path. */
const readers: ReadonlySet<string> = new Set(['read', 'grep', 'glob', 'ls', 'notebookread']);
const editors: ReadonlySet<string> = new Set(['edit', 'write', 'multiedit', 'notebookedit']);
const shells: ReadonlySet<string> = new Set(['bash', 'shell', 'powershell']);

/** Reads the rules of files. Throws if a file cannot be read, because its rules would protect nothing. */
export const readForeignPermissions = (files: readonly PermissionFile[]): readonly PolicyRule[] =>
  files.flatMap((file) => readFile(file));

function readFile(from: PermissionFile): readonly PolicyRule[] {
  const text = readText(from);
  if (text === undefined) return [];
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw policyError(`${from.file} cannot be read, so its permissions would not hold: ${errorMessage(error)}`);
  }
  const permissions = isObject(data) ? data['permissions'] : undefined;
  if (permissions === undefined) return [];
  if (!isObject(permissions)) throw policyError(`${from.file}: "permissions" must be an object.`);
  return strictEffects.flatMap((effect) => {
    const list = permissions[effect] ?? [];
    if (!Array.isArray(list) || list.some((each) => typeof each !== 'string'))
      throw policyError(`${from.file}: "permissions.${effect}" must be a list of strings.`);
    return (list as readonly string[]).flatMap((entry, at) =>
      toRules(entry, effect, from).map((rule): PolicyRule => ({
        ...rule,
        why: `${from.name} says ${effect}: ${escapeInvisibleLine(entry).slice(0, maxShownChars)}`,
        source: `${from.file}, permissions.${effect} ${at + 1}`,
        match: [],
        noMatch: [],
      })),
    );
  });
}

function readText({ file }: PermissionFile): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (!stat.isFile() || stat.size > maxFileBytes) throw policyError(`${file} is not a file of permissions.`);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw policyError(
      `${file} cannot be read (${systemErrorCode(error) ?? 'unknown'}), so its permissions would not hold.`,
    );
  }
}

type StrictRule = { readonly effect: (typeof strictEffects)[number]; readonly on: PolicyMatcher };

/** The rules of one entry, such as `Bash(git push:*)`. What cannot be expressed exactly becomes stricter, never weaker. */
function toRules(entry: string, effect: StrictRule['effect'], from: PermissionFile): readonly StrictRule[] {
  if (entry.length > maxEntryChars)
    throw policyError(`${from.file}: a permission has more than ${maxEntryChars} characters.`);
  const [, name, specifier] = /^\s*([\w*.-]+)\s*(?:\(([^]*)\))?\s*$/.exec(entry) ?? [];
  if (name === undefined)
    throw policyError(
      `${from.file}: the permission ${JSON.stringify(entry.slice(0, maxShownChars))} is not understood.`,
    );
  const tool = resolveForeignTools(cutWildcards(name), 'forbid');
  const kind = name.toLowerCase();
  const value = specifier?.trim() ?? '';
  if (value === '' || value === '*') return [{ effect, on: { tool } }];
  if (shells.has(kind)) {
    const words = toCommandWords(value);
    return [{ effect, on: words.length === 0 ? { tool } : { command: [words] } }];
  }
  const paths = toGlobs(value, from);
  if (readers.has(kind)) return [{ effect, on: { path: paths } }];
  // A command that names the path may write it.
  if (editors.has(kind))
    return [
      { effect, on: { tool, path: paths } },
      { effect: 'ask', on: { tool: resolveForeignTools('bash', 'forbid'), path: paths } },
    ];
  const [, domain] = /^domain:\s*([\w*.-]+)$/.exec(value) ?? [];
  if (domain !== undefined) return [{ effect, on: { host: [domain] } }];
  // A condition that is unknown here, as of one skill or one agent: the user decides.
  return [{ effect: 'ask', on: { tool } }];
}

/** The first words of a command pattern, up to a wildcard or to a word with shell syntax: the program by its name without a folder, and without variables before it. */
function toCommandWords(pattern: string): readonly string[] {
  const words = pattern.replace(/:\*$/, '').split(/\s+/);
  const start = words.findIndex((word) => !/^\w+=/.test(word));
  const named = start < 0 ? [] : words.slice(start);
  const end = named.findIndex((word) => /[|&;<>()$`\\"'*?[\]{}~]/.test(word));
  const [program, ...args] = end < 0 ? named : named.slice(0, end);
  return program === undefined ? [] : [path.basename(program), ...args];
}

/** The globs of a path pattern: `//x` is absolute, `/x` belongs to the folder of the settings, `x` without a slash is a name anywhere. */
function toGlobs(pattern: string, { root }: PermissionFile): readonly string[] {
  const plain = pattern.replace(/\/+$/, '');
  if (plain === '') return pattern === '/' && root !== '' ? [`${root}**`] : ['**', '/**'];
  if (plain === '~') return ['~/**'];
  const base = plain.startsWith('//')
    ? plain.slice(1)
    : plain.startsWith('~/')
      ? plain
      : plain.startsWith('/')
        ? `${root}${plain.slice(1)}`
        : plain.replace(/^\.\//, '');
  const names =
    base.includes('/') || pattern.startsWith('./') || pattern.startsWith('/') ? [base] : [base, `**/${base}`];
  // A folder stands for everything in it.
  return names.map(boundGlob).flatMap((name) => (name.endsWith('**') ? [name] : [name, `${name}/**`]));
}

const maxWildcards = 3;
const maxDeepWildcards = 2;

/**
 * Widens a glob so that no name takes long to match: a project chooses the glob and the names. From the part with too many wildcards on it
 * matches everything, and characters that are syntax of a glob only in other programs match any character.
 */
function boundGlob(glob: string): string {
  const parts: string[] = [];
  const wildcards: string[] = [];
  for (const part of glob.split('/')) {
    wildcards.push(...(part.match(/\*+/g) ?? []));
    const deep = wildcards.filter((each) => each.length > 1);
    if (wildcards.length > maxWildcards || deep.length > maxDeepWildcards) return [...parts, '**'].join('/');
    parts.push(part.replaceAll(/[(){}!+@|]/g, '?'));
  }
  return parts.join('/');
}

/** Cuts the name of a tool after its second wildcard, so that it names more tools. */
function cutWildcards(name: string): string {
  const [first = '', second, ...rest] = name.split(/\*+/);
  return rest.length === 0 ? name : `${first}*${second ?? ''}*`;
}
