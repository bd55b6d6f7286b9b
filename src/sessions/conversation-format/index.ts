// The text format of a conversation that a user edits: format and parse.
export { type ConversationMistake } from './blocks.ts';
export { parseConversation, type DroppedMetadata } from './parse-conversation.ts';
export { MESSAGE_PREFIX, formatConversation } from './format-conversation.ts';
