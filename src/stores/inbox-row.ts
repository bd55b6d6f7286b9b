// The letter in a row. One that cannot be read says nothing, so that those after it are read.
import { isObject, type InboxMessage } from '../core/index.ts';
import { tryParseJson } from './row-json.ts';

const emptyMessage: InboxMessage = { type: 'ended', run: '' };

/** The letter that a text is. */
export function parseInboxMessage(text: string): InboxMessage {
  const letter = tryParseJson(text);
  return isObject(letter) && isInboxMessage(letter) ? letter : emptyMessage;
}

function isInboxMessage(letter: { readonly [key: string]: unknown }): letter is InboxMessage {
  switch (letter['type']) {
    case 'prompt':
    case 'steer':
    case 'follow-up':
      return typeof letter['words'] === 'string';
    case 'answer':
      return typeof letter['call'] === 'string' && typeof letter['allowed'] === 'boolean';
    case 'cancel':
      return true;
    case 'ended':
      return typeof letter['run'] === 'string';
    default:
      return false;
  }
}
