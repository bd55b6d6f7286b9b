// Tables and writers of Anthropic messages.
export { parseAnthropicFinish, anthropicFinishNames } from './finish-reasons.ts';
export { parseAnthropicUsage, writeAnthropicUsage } from './usage.ts';
export { writeAnthropicError } from './errors.ts';
export { writeAnthropicEvent, writeAnthropicMessage, writeBlockEvents, writeMessageDelta } from './write-response.ts';
