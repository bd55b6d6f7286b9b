// The check of action claims: an answer whose claims the log contradicts is sent back once, then its claims are shown as not confirmed.
import { lastItem, messageText, type Check, type RunState, type Verdict } from '../../core/index.ts';
import { actionCheckName, actionLogView } from './action-log.ts';

/** Words without which an answer makes no claim about an action. */
const claimWords =
  /\b(?:\w{3,}ed|new|no|zero|0|wrote|written|rewr\w+|re-?ran|ran|run|read|set|put|made|did|built|got|went|had|able|pass(?:es|ing)?|succeeds?|green|clean|ok|builds|compiles|now|exits?|output|tests?|lint|wurden?|haben?|sind|ist|ont|sont|fue|han?|he|pruebas)\b|✅|✔|[éí\u4e00-\u9fff]/i;

/** The text of the last answer; undefined if the last message is none. */
export function getAnswer({ messages }: Pick<RunState, 'messages'>): string | undefined {
  const last = lastItem(messages);
  return last?.role === 'assistant' ? messageText(last) : undefined;
}

/** The code of the check, kept: an import is resolved again also if the module is loaded. */
let loaded: ((state: RunState) => Verdict) | undefined;

/** Creates the check of action claims. It needs no model, and its code is loaded with the first answer that can make a claim. */
export const actionClaims = (): Check => ({
  name: actionCheckName,
  views: [actionLogView],
  isInherited: true,
  appliesTo: (state) => state.tools.length > 0 && claimWords.test(getAnswer(state) ?? ''),
  run: async (state) => (loaded ??= (await import('./run-action-check.ts')).runActionCheck)(state),
});
