// The answer at the end of a run: as the model wrote it, and as the checks let it be handed on.
import { messageText } from './message.ts';
import { lastItem } from './persistent-list.ts';
import type { RunState } from './state.ts';

/** The answer of a run. */
export type AnswerText = {
  /** What is handed on; empty if there is no answer. */
  readonly text: string;
  /** The answer as the model wrote it, if a check replaced it. */
  readonly originalText?: string;
};

/** Returns the answer of a run that has ended in this state. */
export function getAnswerText({ messages, checkedText }: RunState): AnswerText {
  const last = lastItem(messages);
  const text = last?.role === 'assistant' ? messageText(last) : '';
  return checkedText === undefined || checkedText === text ? { text } : { text: checkedText, originalText: text };
}
