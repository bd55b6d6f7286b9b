// Tables and writers of OpenAI chat completions.
export { findChatUsage, writeChatUsage } from './usage.ts';
export { chatFailureStatus, parseChatFinish, chatFinishNames } from './finish-reasons.ts';
export {
  writeChatChunk,
  writeChatCompletion,
  writeChatHead,
  writeChatMessage,
  writeChatToolCall,
} from './write-response.ts';
export { writeOpenAiError } from './errors.ts';
