// Exports of src/sessions/conversation-format for other modules.
export { type ConversationMistake } from './blocks.ts';
export { parseConversation, type DroppedMetadata } from './parse-conversation.ts';
export { MESSAGE_PREFIX, formatConversation } from './format-conversation.ts';
