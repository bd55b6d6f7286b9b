// Finds values of a call that are trusted, but that the user did not choose: a text of a third party can have chosen them.
import type { FlowState } from './flow-state.ts';
import { asksForAll } from './trusted-records.ts';
import { wholeForms } from './whole-values.ts';
import type { LabelledValue } from './types.ts';

/** The values that say where an effect goes or what it acts on, and that the user did not name. Once untrusted text was seen, they need an approval. */
export function findUnnamed(
  state: FlowState,
  values: readonly LabelledValue[],
  isLocal: boolean,
): readonly LabelledValue[] {
  const roles = isLocal ? placeRoles : targetRoles;
  // The label is read last: it needs the session.
  const trusted = values.filter((each) => roles.has(each.role) && each.label === 'trusted');
  if (trusted.length === 0 || !state.hasUntrusted) return [];
  const isForAll = state.userTexts.some(asksForAll);
  return trusted.filter(({ role, value }) =>
    placeRoles.has(role) ? !isForAll && isUnnamedPlace(state, role, value) : isUnchosen(state, role, value, isForAll),
  );
}

const placeRoles: ReadonlySet<string> = new Set(['recipient', 'account']);
const targetRoles: ReadonlySet<string> = new Set([...placeRoles, 'id', 'path']);

/** Whether a recipient or an account is of a record that the user did not name, or stands beside one that the user named. */
const isUnnamedPlace = (state: FlowState, role: string, value: string): boolean =>
  state.findChoice(value) === 'another' ||
  !wholeForms(role, value).some((form) => !state.isTrustedLeaf(form) || state.isNamed(form));

/** Whether an id or a path is of one among several records, and the user named another one or none. */
function isUnchosen(state: FlowState, role: string, value: string, isForAll: boolean): boolean {
  // A record whose title says that it replaces the typed one is another one.
  if (role === 'id' && !isForAll && isOtherThanTyped(state, value)) return true;
  const choice = state.findChoice(value);
  return choice === 'another' || (choice === 'none' && !isForAll);
}

/** What stands before the digits of an id, such as `S-` of `S-301`. */
const prefixPattern = /^\p{L}[\p{L}_#-]{0,15}(?=\d)/u;
const typedIdPattern = /(?<![\p{L}\p{N}_#-])\p{L}[\p{L}_#-]{0,15}(?=\d)/gu;

/** Whether the user typed an id of the same form as a value, and not this one. */
function isOtherThanTyped({ userTexts }: FlowState, value: string): boolean {
  const prefix = prefixPattern.exec(value)?.[0].toLowerCase();
  return (
    prefix !== undefined &&
    userTexts.some((text) => text.match(typedIdPattern)?.some((each) => each.toLowerCase() === prefix) === true)
  );
}
