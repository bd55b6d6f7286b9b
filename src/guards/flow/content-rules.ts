// Checks content of a call with an effect: links that only a third party wrote, and sums, quantities and dates of calls that cost money.
import { isNumberText, toAmount } from './amounts.ts';
import { valueTokens, type FlowState } from './flow-state.ts';
import { labelValue } from './label-value.ts';
import type { LabelledValue } from './types.ts';

/** Addresses in content: with a scheme, with `www.`, or a host before a slash. */
const linkPattern =
  /[a-z][a-z\d+.-]{1,20}:\/\/[^\s'"`<>()[\]{}]+|(?<![\w@./-])(?:www\.[\w-]|(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/)[^\s'"`<>()[\]{}]*/gi;

/** The values of content that need an approval once untrusted text was seen: links that the user did not write, and, if the call costs money, sums and quantities that the user did not write and dates of third parties. */
export const findBadContent = (
  state: FlowState,
  action: string,
  values: readonly LabelledValue[],
): readonly LabelledValue[] =>
  state.hasUntrusted
    ? [
        ...values.filter(({ role }) => role === 'body').flatMap((value) => findLinks(state, value)),
        ...findCosts(state, action, values),
      ]
    : [];

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

/** Actions that cost money. */
export const costlyActions: ReadonlySet<string> = new Set(['pay', 'buy']);

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
