// Reads the fields of an agent file: lists of tools, limits and permissions, each with sentences about what is not used.
import { escapeInvisibleLine, isObject } from '../../core/index.ts';
import { resolveForeignTools } from '../../tools/index.ts';
import type { BudgetShare } from '../subagents/budget-share.ts';

/** The fields of the frontmatter. */
export type AgentFields = Readonly<Record<string, unknown>>;

/** Why a file cannot be used; it continues a sentence that begins with the path. */
export type Refusal = { readonly why: string };

/** Names of tools of this program, and sentences about names that are used in another way than in their program. */
export type ToolNames = { readonly names: readonly string[]; readonly notes: readonly string[] };

const maxTools = 200;

/** Whether a field is true. Where a file is not quite YAML, each value is read as text. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true';

/** The names in a list, or in a text with commas: `Read, Bash(git *)`. A comma in parentheses separates nothing. */
export function parseToolList(value: unknown): readonly string[] | undefined {
  const text = typeof value === 'string' ? value.trim().replace(/^\[(.*)\]$/s, '$1') : undefined;
  const parts = text === undefined ? (value ?? []) : text.split(/,(?![^(]*\))/);
  if (!Array.isArray(parts) || !parts.every((each): each is string => typeof each === 'string')) return undefined;
  return parts.map((each) => each.trim()).filter((each) => each !== '');
}

/** Maps the names of a list. Nothing here is narrowed to single commands: an allowed name with a pattern stands for no tool, a forbidden one for the whole tool. */
export function mapToolNames(list: readonly string[], use: 'allow' | 'forbid'): ToolNames {
  const names = new Set<string>();
  const notes: string[] = [];
  for (const each of list.slice(0, maxTools)) {
    const [, name = each, pattern] = /^([^()]*)\((.*)\)$/s.exec(each) ?? [];
    const isNarrowed = pattern !== undefined && pattern !== '*' && !/^(task|agent)$/i.test(name);
    const shown = escapeInvisibleLine(each.slice(0, 60));
    if (isNarrowed && use === 'allow')
      notes.push(`It does not get ${shown}: here a tool is not allowed for single inputs.`);
    else for (const tool of resolveForeignTools(name.trim(), use)) names.add(tool);
    if (isNarrowed && use === 'forbid') notes.push(`${shown} takes the whole tool away.`);
  }
  if (list.length > maxTools) notes.push(`Only the first ${maxTools} names of its tools count.`);
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
    if (known === undefined) return { why: `has the limit ${JSON.stringify(name)}; there are ${spendable.join(', ')}` };
    const isValid = typeof value === 'number' && value > 0 && (known === 'usd' || Number.isInteger(value));
    if (!isValid || !Number.isFinite(value))
      return {
        why: `has ${field}: ${JSON.stringify(value)}, which must be a positive ${known === 'usd' ? 'amount' : 'whole number'}`,
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
    ...Object.entries(tools ?? {}).map(([name, on]) => [name, on !== false] as const),
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
