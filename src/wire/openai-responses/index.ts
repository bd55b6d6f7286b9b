// Tables and writers of OpenAI responses.
export { findResponsesFinish, parseResponsesFinish } from './finish-reasons.ts';
export { parseResponsesUsage, writeResponsesUsage } from './usage.ts';
export {
  createResponsesEvents,
  writeCallItem,
  writeEndedResponse,
  writeMessageItem,
  writePendingResponse,
  writeRefusalPart,
  writeTextPart,
  type ItemEvents,
  type ItemKind,
} from './write-response.ts';
