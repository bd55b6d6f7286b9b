// Decides whether a call that confirms completes the effect that was made directly before it in this session.
import { splitTokens, normalizeText } from './normalize-text.ts';
import { valueTokens, type FlowEntry, type FlowState } from './flow-state.ts';
import type { FlowDeclarations, LabelledValue } from './types.ts';

/** Actions that are complete when they were made: there is nothing to confirm. */
const completeActions: ReadonlySet<string> = new Set(['message', 'visit', 'file-write']);

/** The entry for a call that was allowed or refused; none if a later call cannot complete it. */
export function readEffect(
  { tools }: Pick<FlowDeclarations, 'tools'>,
  tool: string,
  isAllowed: boolean,
): readonly FlowEntry[] {
  const { effect, action = '' } = tools.get(tool) ?? { effect: 'external' };
  if (effect === 'read' || (effect === 'confirm' && !isAllowed)) return [];
  if (effect === 'confirm') return [{ type: 'effect', isAllowed, tool, isConfirm: true }];
  return isAllowed && completeActions.has(action) ? [] : [{ type: 'effect', isAllowed, tool }];
}

/** Whether a call completes the latest effect: that was allowed and is not complete, and each value is from the user or occurs only since then. Without such a value, the names of both tools say that they belong together. */
export function completesEffect(state: FlowState, tool: string, values: readonly LabelledValue[]): boolean {
  const { latestEffect } = state;
  if (!latestEffect?.isAllowed || latestEffect.isConfirmed || !isSameServer(latestEffect.tool, tool)) return false;
  const codes = values.filter(({ role }) => role !== 'flag');
  return codes.length > 0
    ? codes.every(({ label, value }) => label === 'user' || state.isNewSinceEffect(valueTokens(value)))
    : hasCommonWord(latestEffect.tool, tool);
}

const serverOf = (tool: string): string => /^(.+)__/.exec(tool)?.[1] ?? '';
const isSameServer = (first: string, second: string): boolean => serverOf(first) === serverOf(second);

const wordsOf = (tool: string): readonly string[] =>
  splitTokens(normalizeText(tool.slice(serverOf(tool).length).replaceAll('_', ' ')));

const hasCommonWord = (first: string, second: string): boolean => {
  const words = new Set(wordsOf(first));
  return wordsOf(second).some((word) => words.has(word));
};
