// Inbox messages in database rows. A row that cannot be read becomes an empty message, so that the messages after it are read.
import { isObject, type InboxDelivery, type InboxMessage } from '../core/index.ts';
import { tryParseJson } from './try-parse-json.ts';

/** A message in the database: its position, and its JSON. The statements select the columns under these names. */
export type MessageRow = { readonly position: number; readonly message: string };

/** The message of a row. */
export const toInboxDelivery = ({ position, message }: MessageRow): InboxDelivery => ({
  position,
  message: parseInboxMessage(message),
});

/** The JSON of a message in a row: `text` is stored as `words`. */
export function formatInboxMessage(message: InboxMessage): string {
  if (!('text' in message)) return JSON.stringify(message);
  const { text, ...fields } = message;
  return JSON.stringify({ ...fields, words: text });
}

const emptyMessage: InboxMessage = { type: 'ended', run: '' };

function parseInboxMessage(text: string): InboxMessage {
  const value = tryParseJson(text);
  if (!isObject(value)) return emptyMessage;
  const { words, ...fields } = value;
  const message = words === undefined ? fields : { ...fields, text: words };
  return isInboxMessage(message) ? message : emptyMessage;
}

function isInboxMessage(value: { readonly [key: string]: unknown }): value is InboxMessage {
  switch (value['type']) {
    case 'prompt':
    case 'steer':
    case 'follow-up':
      return typeof value['text'] === 'string';
    case 'answer':
      return typeof value['call'] === 'string' && typeof value['allowed'] === 'boolean';
    case 'cancel':
      return true;
    case 'ended':
      return typeof value['run'] === 'string';
    default:
      return false;
  }
}
