// Reads the fields of an agent file: lists of tools, limits and permissions, each with sentences about what is not used.
import { escapeInvisibleLine, isObject } from '../../core/index.ts';
import { resolveForeignTools } from '../../tools/index.ts';
import type { BudgetShare } from '../subagents/budget-share.ts';

/** The fields of the frontmatter. */
export type AgentFields = Readonly<Record<string, unknown>>;

/** Why a file cannot be used; it continues a sentence that begins with the path. */
export type Refusal = { readonly why: string };

/** Names of tools of this program, and sentences about names that are used in another way than in their program. */
type ToolNames = { readonly names: readonly string[]; readonly notes: readonly string[] };

const maxTools = 200;
const maxToolNameChars = 200;
const maxShownChars = 80;

/** Whether a field is true. Where a file is not quite YAML, each value is read as text. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true';

const isFalse = (value: unknown): boolean => value === false || value === 'false';

/** A value of a file in a sentence about it: its beginning, without control characters. */
export const formatFieldValue = (value: unknown): string =>
  escapeInvisibleLine(
    (typeof value === 'string'
      ? JSON.stringify(value)
      : typeof value === 'object' && value !== null
        ? 'a list'
        : String(value)
    ).slice(0, maxShownChars),
  );

/** The names in a list, or in a text with commas: `Read, Bash(git *)`. A comma in parentheses separates nothing. */
export function parseToolList(value: unknown): readonly string[] | undefined {
  const text = typeof value === 'string' ? value.trim().replace(/^\[(.*)\]$/s, '$1') : undefined;
  const parts = text === undefined ? (value ?? []) : text.split(/,(?![^(]*\))/);
  if (!Array.isArray(parts) || !parts.every((each): each is string => typeof each === 'string')) return undefined;
  return parts.map((each) => each.trim()).filter((each) => each !== '');
}

/**
 * Maps the names of a list. Nothing here is narrowed to single commands: an allowed name with a pattern stands for no tool, a forbidden one for the
 * whole tool. A `*` that is not at the end is no name either: it allows nothing, and forbids all tools that begin with what is before it.
 */
export function mapToolNames(list: readonly string[], use: 'allow' | 'forbid'): ToolNames | Refusal {
  // A name that is left out would allow less in one list, and more in the other.
  if (list.length > maxTools) return { why: `names ${list.length} tools in one list; at most ${maxTools}` };
  const names = new Set<string>();
  const notes: string[] = [];
  for (const each of list) {
    const [, whole = each, pattern] = /^([^()]*)\((.*)\)$/s.exec(each) ?? [];
    const name = whole.trim();
    const shown = escapeInvisibleLine(each.slice(0, maxShownChars));
    if (name.length > maxToolNameChars)
      return { why: `has a name of a tool with more than ${maxToolNameChars} characters: ${shown}` };
    const isNarrowed = pattern !== undefined && pattern !== '*' && !/^(task|agent)$/i.test(name);
    const star = name.slice(0, -1).indexOf('*');
    if (isNarrowed && use === 'allow')
      notes.push(`It does not get ${shown}: here a tool is not allowed for single inputs.`);
    else if (star >= 0 && use === 'allow') notes.push(`It does not get ${shown}: a * is allowed at the end of a name.`);
    else if (star >= 0) {
      names.add(name.slice(0, star + 1));
      notes.push(`${shown} takes away all tools that begin with "${escapeInvisibleLine(name.slice(0, star))}".`);
    } else for (const tool of resolveForeignTools(name, use)) names.add(tool);
    if (isNarrowed && star < 0 && use === 'forbid') notes.push(`${shown} takes the whole tool away.`);
  }
  return { names: [...names], notes };
}

const spendable = ['turns', 'tokens', 'usd', 'calls'] as const;

/** The limits of the fields `limits` and of another name for the turns. */
export function readLimits(fields: AgentFields, turnFields: readonly string[]): BudgetShare | Refusal {
  const own = fields['limits'];
  if (own !== undefined && !isObject(own)) return { why: 'has limits that are not a list of fields' };
  const limits: Partial<Record<(typeof spendable)[number], number>> = {};
  const all = [
    ...turnFields.map((field) => ['turns', field, fields[field]] as const),
    ...Object.entries(own ?? {}).map(([name, value]) => [name, `limits.${name}`, value] as const),
  ];
  for (const [name, field, given] of all) {
    if (given === undefined || given === null) continue;
    const value = typeof given === 'string' && /^\d+(\.\d+)?$/.test(given) ? Number(given) : given;
    const known = spendable.find((each) => each === name);
    if (known === undefined)
      return { why: `has the limit ${formatFieldValue(name)}; there are ${spendable.join(', ')}` };
    const isValid = typeof value === 'number' && value > 0 && (known === 'usd' || Number.isInteger(value));
    if (!isValid || !Number.isFinite(value))
      return {
        why: `has ${field}: ${formatFieldValue(value)}, which must be a positive ${known === 'usd' ? 'amount' : 'whole number'}`,
      };
    limits[known] = Math.min(value, limits[known] ?? value);
  }
  return limits;
}

/** The tools that switches and permissions of OpenCode leave out: `tools: { bash: false }` and `permission: { edit: deny }`. A pattern that denies a part leaves out the whole tool. */
export function readSwitches({
  tools,
  permission,
}: AgentFields): { readonly forbidden: readonly string[]; readonly allowed?: readonly string[] } | Refusal {
  if (tools !== undefined && tools !== null && !isObject(tools))
    return { why: 'has tools that are not switches, such as bash: false' };
  const permissions = typeof permission === 'string' ? { '*': permission } : permission;
  if (permissions !== undefined && permissions !== null && !isObject(permissions))
    return { why: 'has a permission that is neither a word nor a list of tools' };
  const rules = [
    ...Object.entries(tools ?? {}).map(([name, on]) => [name, !isFalse(on)] as const),
    ...Object.entries(permissions ?? {}).map(([name, rule]) => [name, !deniesAny(rule)] as const),
  ];
  const isAllOff = rules.some(([name, on]) => name === '*' && !on);
  const forbidden = rules.filter(([name, on]) => name !== '*' && !on).map(([name]) => name);
  const allowed = rules.filter(([name, on]) => name !== '*' && on).map(([name]) => name);
  return isAllOff ? { forbidden, allowed: allowed.filter((name) => !forbidden.includes(name)) } : { forbidden };
}

const deniesAny = (rule: unknown): boolean =>
  rule === 'deny' || (isObject(rule) && Object.values(rule).includes('deny'));

/** Whether a value says why a file cannot be used. */
export const isRefusal = (value: object): value is Refusal => 'why' in value;
