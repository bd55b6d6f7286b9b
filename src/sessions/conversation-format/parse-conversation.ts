// Parses an edited conversation: unchanged messages are taken from the original, and every error has its line.
import { isDeepStrictEqual } from 'node:util';
import { historyError, type Message, type MessagePart } from '../../core/index.ts';
import { parseBlocks, type ConversationBlock, type ConversationMistake } from './blocks.ts';
import { parseInvalidInput, parsePart } from './parse-part.ts';

/** Provider metadata that is dropped because its message was edited. */
export type DroppedMetadata = { readonly message: number; readonly reason: string };

/** The parsed conversation, or all errors. */
export type ParsedConversation =
  | { readonly messages: readonly Message[]; readonly dropped: readonly DroppedMetadata[] }
  | { readonly mistakes: readonly ConversationMistake[] };

type MessageDraft = { readonly head: ConversationBlock; readonly parts: readonly ConversationBlock[] };
type ParsedMessage = {
  readonly message: Message;
  readonly previousNumber: number | undefined;
  readonly line: number;
  readonly lines: readonly number[];
};

/** Parses the text of a conversation. Unchanged messages and files come from the original, `before`. */
export function parseConversation(text: string, before: readonly Message[] = []): ParsedConversation {
  const { blocks, mistakes: blockMistakes } = parseBlocks(text);
  const mistakes = [...blockMistakes];
  const reads = groupMessageBlocks(blocks, mistakes).flatMap((draft) => parseMessage(draft, before, mistakes) ?? []);
  if (mistakes.length === 0)
    for (const item of [...findDuplicates(reads), ...findOrphanResults(reads)]) mistakes.push(item);
  const parsed = reads.map(({ message }) => message);
  if (mistakes.length === 0) for (const item of findInvalidHistory(parsed, reads)) mistakes.push(item);
  if (mistakes.length) return { mistakes: mistakes.toSorted((a, b) => a.line - b.line) };
  const dropped: DroppedMetadata[] = [];
  const messages = reads.map(({ message, previousNumber }, i) => {
    const old = previousNumber === undefined ? undefined : before[previousNumber - 1];
    if (previousNumber !== undefined && !old) return message;
    const now = normalizeMessage(message);
    if (old && isDeepStrictEqual(now, normalizeMessage(old))) return old;
    if (old?.parts.some((part) => 'meta' in part && part.meta))
      dropped.push({ message: i + 1, reason: formatDroppedReason(i + 1) });
    return now;
  });
  return { messages, dropped };
}

const formatDroppedReason = (number: number): string =>
  `Message ${number} was changed, so what the provider had attached to it was left out.`;

function groupMessageBlocks(
  blocks: readonly ConversationBlock[],
  mistakes: ConversationMistake[],
): readonly MessageDraft[] {
  const drafts: { readonly head: ConversationBlock; readonly parts: ConversationBlock[] }[] = [];
  for (const block of blocks) {
    if (block.kind === 'message') drafts.push({ head: block, parts: [] });
    else if (drafts.length) drafts.at(-1)?.parts.push(block);
    else
      mistakes.push({
        line: block.line,
        message: 'This part belongs to no message: put a heading such as "%%% user" above it.',
      });
  }
  return drafts;
}

function parseMessage(
  { head, parts }: MessageDraft,
  before: readonly Message[],
  mistakes: ConversationMistake[],
): ParsedMessage | undefined {
  const [role, number, ...extraWords] = head.heading;
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') {
    mistakes.push({
      line: head.line,
      message: `A message begins with "%%% user", "%%% assistant" or "%%% tool", not "%%% ${role ?? ''}".`,
    });
    return undefined;
  }
  const previousNumber = number === undefined ? undefined : Number(number);
  const last = before.length || Number.POSITIVE_INFINITY;
  if (
    extraWords.length ||
    (previousNumber !== undefined &&
      !(Number.isInteger(previousNumber) && previousNumber > 0 && previousNumber <= last))
  )
    mistakes.push({
      line: head.line,
      message: 'A role is followed by the number that the message had, or by nothing for a new message.',
    });
  const parsedParts: MessagePart[] = [];
  const lines: number[] = [];
  const add = (block: ConversationBlock, part: MessagePart | ConversationMistake): void => {
    if ('line' in part) mistakes.push(part);
    else {
      parsedParts.push(part);
      lines.push(block.line);
    }
  };
  if (head.body.some((line) => line.trim() !== '')) add(head, { type: 'text', text: head.body.join('\n') });
  for (const block of parts) {
    const call = parsedParts.at(-1);
    if (block.heading[0] !== 'invalid' || call?.type !== 'tool-call') add(block, parsePart(block, before));
    else {
      const invalid = parseInvalidInput(block);
      if (typeof invalid === 'string') parsedParts[parsedParts.length - 1] = { ...call, invalid };
      else mistakes.push(invalid);
    }
  }
  return { message: { role, parts: parsedParts }, previousNumber, line: head.line, lines };
}

/** Normalizes a message for comparison: without metadata and surrounding empty lines. */
const normalizeMessage = (message: Message): Message => ({
  ...message,
  parts: message.parts.map((part): MessagePart => {
    const { meta: _, ...rest } = 'meta' in part ? part : { ...part, meta: undefined };
    if ('text' in rest) return { ...rest, text: trimBlankLines(rest.text) };
    return 'invalid' in rest && rest.invalid !== undefined ? { ...rest, invalid: trimBlankLines(rest.invalid) } : rest;
  }),
});

const trimBlankLines = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();

/** Finds duplicate message numbers and call ids. */
function findDuplicates(reads: readonly ParsedMessage[]): readonly ConversationMistake[] {
  const firstLines = new Map<string, number>();
  const mistakes: ConversationMistake[] = [];
  const check = (key: string, line: number, formatMessage: (first: number) => string): void => {
    const first = firstLines.get(key);
    if (first === undefined) firstLines.set(key, line);
    else mistakes.push({ line, message: formatMessage(first) });
  };
  for (const { message, previousNumber, line, lines } of reads) {
    if (previousNumber !== undefined)
      check(
        `message ${previousNumber}`,
        line,
        (first) => `The number ${previousNumber} is already in line ${first}: leave it out of the copy.`,
      );
    for (const [i, part] of message.parts.entries())
      if (part.type === 'tool-call')
        check(
          `call ${part.id}`,
          lines[i] ?? line,
          (first) => `The call id ${part.id} is used in line ${first} already.`,
        );
  }
  return mistakes;
}

/** Finds results without a call. */
function findOrphanResults(reads: readonly ParsedMessage[]): readonly ConversationMistake[] {
  return reads.flatMap(({ message, line, lines }, i) => {
    const callIds = new Set(
      reads[i - 1]?.message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])),
    );
    return message.parts.flatMap((part, k) =>
      part.type === 'tool-result' && message.role === 'tool' && !callIds.has(part.id)
        ? [
            {
              line: lines[k] ?? line,
              message: `No call with the id ${part.id} is made in the message before this one.`,
            },
          ]
        : [],
    );
  });
}

/** Finds the first message that makes the history invalid for providers. */
function findInvalidHistory(
  messages: readonly Message[],
  reads: readonly ParsedMessage[],
): readonly ConversationMistake[] {
  const problem = messages.length ? historyError(messages) : undefined;
  if (problem === undefined) return [];
  let [low, high] = [1, messages.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (historyError(messages.slice(0, middle)) === problem) high = middle;
    else low = middle + 1;
  }
  return [{ line: reads[low - 1]?.line ?? 1, message: problem }];
}
