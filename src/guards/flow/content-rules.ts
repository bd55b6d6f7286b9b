// Checks content of a call with an effect: links and settings that only a third party wrote, and sums, quantities and dates of calls that cost money.
import { costlyActions } from './action-kinds.ts';
import { isNumberText, toAmount } from './amounts.ts';
import { valueTokens, type FlowState } from './flow-state.ts';
import { labelValue } from './label-value.ts';
import { controlRoles, type LabelledValue, type ToolDeclaration } from './types.ts';

/** Addresses in content: with a scheme, with `www.`, or a host before a slash. */
const linkPattern =
  /[a-z][a-z\d+.-]{1,20}:\/\/[^\s'"`<>()[\]{}]+|(?<![\w@./-])(?:www\.[\w-]|(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/)[^\s'"`<>()[\]{}]*/gi;

/** The values of content that need an approval once untrusted text was seen: links that the user did not write, settings of third parties, and, if the call costs money, sums and quantities that the user did not write and dates of third parties. */
export function findBadContent(
  state: FlowState,
  { effect, action = '', destructive = false }: ToolDeclaration,
  values: readonly LabelledValue[],
): readonly LabelledValue[] {
  if (!state.hasUntrusted) return [];
  const isOutside = effect === 'external' || costlyActions.has(action);
  const bad = [
    ...(isOutside ? values.filter(({ role }) => role === 'body').flatMap((value) => findLinks(state, value)) : []),
    ...(isOutside ? findCosts(state, action, values) : []),
    ...findSettings(state, action, destructive, values),
  ];
  return bad.filter((each, i) => bad.indexOf(each) === i);
}

/** Actions whose content is text or data; what others write is usual there. */
const textActions: ReadonlySet<string> = new Set([...costlyActions, 'message', 'upload', 'request', 'git-remote']);
/** Actions that make something new with a text for people. */
const newActions: ReadonlySet<string> = new Set(['create', 'book', 'schedule', 'invite', 'share']);
/** Longer content of a change is text for people. */
const maxSettingChars = 80;

/** Content that decides what a call does, and that a third party wrote: the new values of a change, and all content of a call that names nothing to act on. */
function findSettings(
  state: FlowState,
  action: string,
  isDestructive: boolean,
  values: readonly LabelledValue[],
): readonly LabelledValue[] {
  const isStrict =
    (isDestructive && !costlyActions.has(action)) ||
    !values.some(({ role }) => (controlRoles as readonly string[]).includes(role));
  if (!isStrict && textActions.has(action)) return [];
  const isSetting = ({ role, value }: LabelledValue): boolean =>
    role === 'time' ||
    role === 'flag' ||
    (role === 'body' && (isStrict || (value.length <= maxSettingChars && !newActions.has(action))));
  return values.filter((each) => {
    if (!isSetting(each) || each.label !== 'untrusted') return false;
    const day = each.role === 'time' ? dayPattern.exec(each.value)?.[0] : undefined;
    return [each.value, ...(day === undefined ? [] : [day])].some(
      (part) => !state.isFromUser(valueTokens(part)) && state.findUntrusted(valueTokens(part)) !== undefined,
    );
  });
}

const dayPattern = /\d{4}-\d{2}-\d{2}/;

/** Links of a content that the user did not write, and that no trusted value has. */
function findLinks(state: FlowState, { parameter, value }: LabelledValue): readonly LabelledValue[] {
  const found = new Map<string, LabelledValue>();
  for (const link of new Set(value.match(linkPattern)?.map(withoutPunctuation))) {
    if (state.isApprovedValue('link', link)) continue;
    const labelled = labelValue(state, 'url', link);
    if (labelled.label === 'untrusted' || labelled.label === 'unknown')
      found.set(link, { parameter, role: 'link', value: link, ...labelled });
  }
  return [...found.values()];
}

function withoutPunctuation(link: string): string {
  let end = link.length;
  while ('.,;:!?'.includes(link[end - 1] ?? 'x')) end -= 1;
  return link.slice(0, end);
}

function findCosts(state: FlowState, action: string, values: readonly LabelledValue[]): readonly LabelledValue[] {
  const hasAccount = values.some(({ role }) => role === 'account');
  const isCostly = hasAccount || costlyActions.has(action);
  return isCostly
    ? values.filter((each) => {
        const { role, value } = each;
        // A sum of the program itself, such as the total of an order, is usual where no account is named.
        if (role === 'amount') return each.label !== 'user' && (hasAccount || each.label !== 'trusted');
        if (role === 'flag') return isNumberText(value) && !isUserQuantity(state, value);
        return role === 'time' && each.label === 'untrusted' && state.findUntrusted(valueTokens(value)) !== undefined;
      })
    : [];
}

/** One is what is bought without a word about it. */
function isUserQuantity(state: FlowState, value: string): boolean {
  const amount = toAmount(value);
  return amount !== undefined && (amount <= 100 || state.isUserAmount(amount) || state.isApprovedValue('flag', value));
}
