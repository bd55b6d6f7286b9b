// Bounds the messages and calls of an intercepted request: each is recorded as an event, so a small body could take minutes.
import { FairleadError, messageToolCalls, type Message } from '../../core/index.ts';

const maxMessages = 10_000;
const maxParts = 50_000;
const maxCallsPerMessage = 1000;

/** The code of the error for a request that is too long to be recorded. The caller gets it: the request is not sent. */
export const requestTooLongCode = 'bridge/too-long';

/** Throws if a request has too many messages, parts or calls. */
export function assertRequestBounds(messages: readonly (Message | null)[]): void {
  if (messages.length > maxMessages) throw requestTooLongError(`more than ${maxMessages} messages`);
  let parts = 0;
  for (const message of messages) {
    if (!message) continue;
    parts += message.parts.length;
    if (parts > maxParts) throw requestTooLongError(`more than ${maxParts} parts`);
    if (messageToolCalls(message).length > maxCallsPerMessage)
      throw requestTooLongError(`a message with more than ${maxCallsPerMessage} tool calls`);
  }
}

const requestTooLongError = (what: string): FairleadError =>
  new FairleadError(requestTooLongCode, `The request has ${what}, so it was not sent.`, {
    blame: 'user',
    hint: 'Send a shorter history.',
  });
