// The laws of the core's own request, which hold in every dialect it can be turned into.
import { toArray, type Message, type ModelRequest } from '../../core/index.ts';
import { openCalls } from './calls.ts';
import { argumentSchema, illegal, once, show, toolName, words } from './demand.ts';

const names = /^[a-zA-Z0-9_-]{1,64}$/;

/** Throws a FairleadError that says where and why this request cannot be turned into a legal one of any dialect. */
export function assertLegalRequest(request: ModelRequest): void {
  const seen = new Set<string>();
  for (const [i, tool] of request.tools.entries()) {
    once(seen, toolName(tool.name, names, `tools[${i}].name`), `tools[${i}].name`);
    argumentSchema(tool.input, `tools[${i}].input`);
  }
  const { toolChoice } = request;
  if (typeof toolChoice === 'object' && !seen.has(toolChoice.tool))
    illegal('choice', `names ${show(toolChoice.tool)}, which is not among the tools.`);
  if (toolChoice === 'required' && seen.size === 0) illegal('choice', 'demands a call and there are no tools.');
  messagesLegal(toArray(request.messages));
}

function messagesLegal(messages: readonly Message[]): void {
  const open = openCalls();
  for (const [i, message] of messages.entries()) {
    const where = `messages[${i}]`;
    const before = messages[i - 1]?.role;
    if (message.parts.length === 0) illegal(where, 'has no parts.');
    if (i === 0 && message.role !== 'user')
      illegal(where, `is of the ${message.role}; a conversation begins with the user.`);
    if (message.role === before) illegal(where, `is the second ${before} message in a row.`);
    if (message.role !== 'tool') open.settled(where);
    for (const [n, part] of message.parts.entries()) {
      const here = `${where}.parts[${n}]`;
      if (part.type === 'tool-result') {
        if (message.role !== 'tool') illegal(here, `is a tool result in a message of the ${message.role}.`);
        open.result(part.id, here);
      } else if (message.role === 'tool') illegal(here, `is ${show(part.type)} in a message of tool results.`);
      if (part.type === 'tool-call') {
        if (message.role !== 'assistant') illegal(here, `is a tool call in a message of the ${message.role}.`);
        toolName(part.tool, names, `${here}.tool`);
        open.call(words(part.id, `${here}.id`), here);
      }
      if (part.type === 'text' && !part.meta) words(part.text, `${here}.text`);
      if (part.type === 'reasoning' && message.role !== 'assistant')
        illegal(here, `is reasoning of the ${message.role}.`);
    }
  }
  open.settled('The end of the conversation');
  if (messages.length === 0 || messages.at(-1)?.role === 'assistant')
    illegal(
      'The conversation',
      messages.length === 0 ? 'is empty.' : 'ends with the assistant, so there is nothing to answer.',
    );
}
