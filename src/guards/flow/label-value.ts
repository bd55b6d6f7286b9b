// Labels one value of a call: where in the session it comes from decides how far it can be trusted.
import path from 'node:path';
import { listWrittenForms, toAmount } from './amounts.ts';
import { normalizeText } from './normalize-text.ts';
import { valueTokens, type FlowState } from './flow-state.ts';
import { wholeForms } from './whole-values.ts';
import type { FlowSource, Integrity, LabelledValue } from './types.ts';

type Found = NonNullable<LabelledValue['found']>;
/** Where a value comes from. */
export type Label = { readonly label: Integrity; readonly source?: FlowSource; readonly found?: Found };

/** Values of roles that name things are compared; shorter ids match by chance, and count only if they are equal to a trusted value, or have a letter and a digit, such as `m9`, and the user typed them. */
const minIdChars = 3;
const isMixed = (value: string): boolean => /\p{L}/u.test(value) && /\p{N}/u.test(value);
const minTokenChars = 4;

/** Labels a value in its role. */
export function labelValue(state: FlowState, role: LabelledValue['role'], value: string): Label {
  if (state.isRefusedValue(value)) return labelUntrusted(state, value) ?? { label: 'untrusted' };
  if (state.isApprovedValue(role, value) || state.isOwnValue(value)) return { label: 'user' };
  const tokens = valueTokens(value);
  if (tokens.length === 0) return { label: 'trusted' };
  if (role === 'amount') return labelAmount(state, value);
  if (wholeRoles.has(role)) return labelWhole(state, role, value);
  if (role === 'id' && value.length < minIdChars) {
    if (isMixed(value) && state.isFromUser(tokens)) return { label: 'user' };
    if (state.isTrustedLeaf(value)) return { label: 'trusted' };
    return labelUntrusted(state, value) ?? { label: 'unknown' };
  }
  if (role === 'path' && isInRoots(state, value)) return { label: 'user' };
  if (state.isFromUser(tokens) || (role === 'path' && isBelowUserPath(state, value))) return { label: 'user' };
  if (state.isTrusted(tokens) || (role === 'path' && isTrustedName(state, value))) return { label: 'trusted' };
  return labelUntrusted(state, value) ?? { label: 'unknown' };
}

/** Roles whose values say where an effect goes: a part of an address of the user, or of a trusted value, is another address. */
const wholeRoles: ReadonlySet<string> = new Set(['recipient', 'account', 'url']);

function labelWhole(state: FlowState, role: string, value: string): Label {
  const forms = wholeForms(role, value);
  if (forms.some((form) => state.isWholeFromUser(form))) return { label: 'user' };
  const [form = value] = forms;
  if (state.isWholeTrusted(form) || (role === 'url' && state.isTrustedHost(form))) return { label: 'trusted' };
  return labelUntrusted(state, value, valueTokens(form)) ?? { label: 'unknown' };
}

function labelAmount(state: FlowState, value: string): Label {
  const amount = toAmount(value);
  if (amount !== undefined && state.isUserAmount(amount)) return { label: 'user' };
  if (amount !== undefined && state.isTrustedAmount(amount)) return { label: 'trusted' };
  for (const tokens of amount === undefined ? [] : listWrittenForms(amount)) {
    const found = state.findUntrusted(tokens);
    if (found) return describe(found, tokens);
  }
  return labelUntrusted(state, value) ?? { label: 'unknown' };
}

/** A value is untrusted if a third party wrote it, or if one of its significant tokens occurs in text of third parties only. */
function labelUntrusted(
  state: FlowState,
  value: string,
  tokens: readonly string[] = valueTokens(value),
): Label | undefined {
  const whole = state.findUntrusted(tokens);
  if (whole) return describe(whole, tokens);
  for (const token of tokens) {
    if (token.length < minTokenChars && !/\d/.test(token)) continue;
    if (state.isKnownToken(token)) continue;
    const found = state.findUntrusted([token]);
    if (found) return describe(found, [token]);
  }
  return undefined;
}

const describe = (
  { text, source }: { readonly text: string; readonly source: FlowSource },
  [token = '']: readonly string[],
): Label => ({ label: 'untrusted', source, found: { text, token } });

const contextChars = 160;

/** The part of a text around a token, for a question. */
export function readContext({ text, token }: Found): string {
  const exact = text.indexOf(token);
  const at = exact < 0 ? Math.max(0, text.toLowerCase().indexOf(token)) : exact;
  const [start, end] = [Math.max(0, at - contextChars / 2), at + contextChars];
  const part = text.slice(start, end);
  const whole = start === 0 ? part : part.replace(/^\S{1,30}\s+/, '…');
  return (end >= text.length ? whole : whole.replace(/\s+\S{1,30}$/, '…')).trim();
}

/** Whether a path is in a folder that the user works in. */
function isInRoots({ options: { roots = [] } }: FlowState, value: string): boolean {
  const [base] = roots;
  if (base === undefined || value.startsWith('~')) return false;
  const full = path.resolve(base, value);
  return roots.some((root) => full === root || full.startsWith(root.endsWith(path.sep) ? root : root + path.sep));
}

/** Whether the user typed a folder that this path is in. */
function isBelowUserPath(state: FlowState, value: string): boolean {
  const parts = value.split('/').filter((part) => part !== '' && part !== '.');
  return (
    !parts.includes('..') &&
    parts.slice(0, -1).some((_, i) => {
      const parent = parts.slice(0, i + 1).join('/');
      return parent.length >= minIdChars && state.isFromUser(valueTokens(parent)) && isTypedAlone(state, parent);
    })
  );
}

/** What follows a path: a space, the end, or punctuation. */
const endsPath = /^\/?(?:$|[^\p{L}\p{N}_/.-]|\.(?![\p{L}\p{N}_]))/u;

/** Whether the user typed a folder, and not a longer path that begins with it. */
function isTypedAlone({ userTexts }: FlowState, folder: string): boolean {
  const wanted = normalizeText(folder);
  return userTexts.some((typed) => {
    const text = normalizeText(typed);
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
      if (endsPath.test(text.slice(at + wanted.length, at + wanted.length + 3))) return true;
    return false;
  });
}

/** Whether the last part of a path is a trusted value. */
const isTrustedName = (state: FlowState, value: string): boolean => {
  const name = value.split('/').findLast((part) => part !== '') ?? '';
  return name.length >= minIdChars && !value.split('/').includes('..') && state.isTrusted(valueTokens(name));
};
