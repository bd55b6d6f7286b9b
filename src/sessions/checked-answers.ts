// Shows answers as a verification leaves them: with struck claims, or with the reason of an abstention.
import { isObject, messageText, type Json, type Message } from '../core/index.ts';
import type { AddedInputs } from './added-inputs.ts';

/** Returns an answer as a verification lets it be shown. Any other message, and JSON, is unchanged. */
export function toCheckedMessage(message: Message, { checked }: AddedInputs): Message {
  const found = message.role === 'assistant' ? checked?.get(messageText(message)) : undefined;
  const text = found === undefined ? undefined : formatChecked(found);
  if (text === undefined || message.role !== 'assistant') return message;
  return { ...message, parts: [...message.parts.filter((part) => part.type !== 'text'), { type: 'text', text }] };
}

/** The answer that the record of a verification, or the text of a check, leaves; undefined if it stays as it is. */
function formatChecked(found: Json): string | undefined {
  if (typeof found === 'string') return found;
  const { outcome, why, draft, answer } = isObject(found) ? found : {};
  if (typeof draft !== 'string' || typeof answer !== 'string' || /^\s*[[{]/.test(draft)) return undefined;
  if (outcome === 'verified') return answer;
  const title = outcome === 'abstained' ? 'I don’t know' : 'Not verified';
  return `${title}: ${String(why)}${answer === '' ? '' : `\n\nThe draft, which is not verified:\n\n${answer}`}`;
}

/** The answers that a verification changed, with what the model wrote. */
export const listCheckedAnswers = ({
  checked = new Map(),
}: AddedInputs): readonly { readonly text: string; readonly original: string }[] =>
  [...checked].flatMap(([original, found]) => {
    const text = formatChecked(found);
    return text === undefined || text === original ? [] : [{ text, original }];
  });
