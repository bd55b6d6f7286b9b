// Validates a core request with the rules that hold in every wire format.
import { toArray, type Message, type ModelRequest } from '../../core/index.ts';
import { createToolCallTracker } from './tool-call-order.ts';
import {
  assertObjectSchema,
  failValidation,
  assertUnique,
  formatValue,
  assertToolName,
  assertNonEmptyString,
} from './assertions.ts';

const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** Throws a FairleadError with the position and the reason if this request cannot be converted to a valid one of any wire format. */
export function assertValidRequest(request: ModelRequest): void {
  const seen = new Set<string>();
  for (const [i, tool] of request.tools.entries()) {
    assertUnique(seen, assertToolName(tool.name, toolNamePattern, `tools[${i}].name`), `tools[${i}].name`);
    assertObjectSchema(tool.input, `tools[${i}].input`);
  }
  const { toolChoice } = request;
  if (typeof toolChoice === 'object' && !seen.has(toolChoice.tool))
    failValidation('choice', `names ${formatValue(toolChoice.tool)}, which is not among the tools.`);
  if (toolChoice === 'required' && seen.size === 0) failValidation('choice', 'requires a call and there are no tools.');
  validateMessages(toArray(request.messages));
}

function validateMessages(messages: readonly Message[]): void {
  const open = createToolCallTracker();
  for (const [i, message] of messages.entries()) {
    const where = `messages[${i}]`;
    const before = messages[i - 1]?.role;
    if (message.parts.length === 0) failValidation(where, 'has no parts.');
    if (i === 0 && message.role !== 'user')
      failValidation(where, `has the role ${message.role}; a conversation begins with a user message.`);
    if (message.role === before) failValidation(where, `is the second ${before} message in a row.`);
    if (message.role !== 'tool') open.assertNoneOpen(where);
    for (const [n, part] of message.parts.entries()) {
      const here = `${where}.parts[${n}]`;
      if (part.type === 'tool-result') {
        if (message.role !== 'tool')
          failValidation(here, `is a tool result in a message with the role ${message.role}.`);
        open.result(part.id, here);
      } else if (message.role === 'tool') failValidation(here, `is ${formatValue(part.type)} in a tool message.`);
      if (part.type === 'tool-call') {
        if (message.role !== 'assistant')
          failValidation(here, `is a tool call in a message with the role ${message.role}.`);
        assertToolName(part.tool, toolNamePattern, `${here}.tool`);
        open.call(assertNonEmptyString(part.id, `${here}.id`), here);
      }
      if (part.type === 'text' && !part.meta) assertNonEmptyString(part.text, `${here}.text`);
      if (part.type === 'reasoning' && message.role !== 'assistant')
        failValidation(here, `is reasoning in a message with the role ${message.role}.`);
    }
  }
  open.assertNoneOpen('The end of the conversation');
  if (messages.length === 0 || messages.at(-1)?.role === 'assistant')
    failValidation(
      'The conversation',
      messages.length === 0 ? 'is empty.' : 'ends with an assistant message, so there is nothing to answer.',
    );
}
