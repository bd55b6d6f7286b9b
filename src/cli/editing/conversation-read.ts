// Reads an edited conversation back: what was not changed is taken from the old one whole, and every mistake is told with its line.
import { isDeepStrictEqual } from 'node:util';
import { historyError, type Message, type MessagePart } from '../../core/index.ts';
import { blocksOf, type Block, type Mistake } from './conversation-blocks.ts';
import { invalidOf, partOf } from './conversation-parts.ts';

/** What a provider wanted back unread and will not get, because the message is no longer the one it belonged to. */
export type Dropped = { readonly message: number; readonly why: string };

/** The conversation that a text tells, or all that is wrong with it. */
export type FromText =
  | { readonly messages: readonly Message[]; readonly dropped: readonly Dropped[] }
  | { readonly mistakes: readonly Mistake[] };

type Draft = { readonly head: Block; readonly parts: readonly Block[] };
type Read = {
  readonly message: Message;
  readonly was: number | undefined;
  readonly line: number;
  readonly lines: readonly number[];
};

/** Reads the text of a conversation. `before` is the one it was made from: unchanged messages and files come from there. */
export function fromText(text: string, before: readonly Message[] = []): FromText {
  const { blocks, mistakes: found } = blocksOf(text);
  const mistakes = [...found];
  const reads = draftsOf(blocks, mistakes).flatMap((draft) => readMessage(draft, before, mistakes) ?? []);
  if (mistakes.length === 0) mistakes.push(...repeated(reads), ...unanswered(reads));
  const parsed = reads.map(({ message }) => message);
  if (mistakes.length === 0) mistakes.push(...legality(parsed, reads));
  if (mistakes.length) return { mistakes: mistakes.toSorted((a, b) => a.line - b.line) };
  const dropped: Dropped[] = [];
  const messages = reads.map(({ message, was }, i) => {
    const old = was === undefined ? undefined : before[was - 1];
    if (was !== undefined && !old) return message;
    const now = tidy(message);
    if (old && isDeepStrictEqual(now, tidy(old))) return old;
    if (old?.parts.some((part) => 'meta' in part && part.meta)) dropped.push({ message: i + 1, why: detached(i + 1) });
    return now;
  });
  return { messages, dropped };
}

const detached = (number: number): string =>
  `Message ${number} was changed, so what the provider had attached to it was left out.`;

function draftsOf(blocks: readonly Block[], mistakes: Mistake[]): readonly Draft[] {
  const drafts: { readonly head: Block; readonly parts: Block[] }[] = [];
  for (const block of blocks) {
    if (block.kind === 'message') drafts.push({ head: block, parts: [] });
    else if (drafts.length) drafts.at(-1)?.parts.push(block);
    else
      mistakes.push({
        line: block.line,
        what: 'This part belongs to no message: put a heading such as "%%% user" above it.',
      });
  }
  return drafts;
}

function readMessage({ head, parts }: Draft, before: readonly Message[], mistakes: Mistake[]): Read | undefined {
  const [role, number, ...more] = head.words;
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') {
    mistakes.push({
      line: head.line,
      what: `A message begins with "%%% user", "%%% assistant" or "%%% tool", not "%%% ${role ?? ''}".`,
    });
    return undefined;
  }
  const was = number === undefined ? undefined : Number(number);
  const last = before.length || Number.POSITIVE_INFINITY;
  if (more.length || (was !== undefined && !(Number.isInteger(was) && was > 0 && was <= last)))
    mistakes.push({
      line: head.line,
      what: 'After the role stands the number that the message had, or nothing for a new one.',
    });
  const found: MessagePart[] = [];
  const lines: number[] = [];
  const add = (block: Block, part: MessagePart | Mistake): void => {
    if ('line' in part) mistakes.push(part);
    else {
      found.push(part);
      lines.push(block.line);
    }
  };
  if (head.body.some((line) => line.trim() !== '')) add(head, { type: 'text', text: head.body.join('\n') });
  for (const block of parts) {
    const call = found.at(-1);
    if (block.words[0] !== 'invalid' || call?.type !== 'tool-call') add(block, partOf(block, before));
    else {
      const invalid = invalidOf(block);
      if (typeof invalid === 'string') found[found.length - 1] = { ...call, invalid };
      else mistakes.push(invalid);
    }
  }
  return { message: { role, parts: found }, was, line: head.line, lines };
}

/** A message without what an editor cannot show: metadata, and empty lines around what people write. */
const tidy = (message: Message): Message => ({
  ...message,
  parts: message.parts.map((part): MessagePart => {
    const { meta: _, ...rest } = 'meta' in part ? part : { ...part, meta: undefined };
    if ('text' in rest) return { ...rest, text: trimmed(rest.text) };
    return 'invalid' in rest && rest.invalid !== undefined ? { ...rest, invalid: trimmed(rest.invalid) } : rest;
  }),
});

const trimmed = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();

/** Numbers and call ids that stand twice. */
function repeated(reads: readonly Read[]): readonly Mistake[] {
  const seen = new Map<string, number>();
  const mistakes: Mistake[] = [];
  const note = (key: string, line: number, what: (first: number) => string): void => {
    const first = seen.get(key);
    if (first === undefined) seen.set(key, line);
    else mistakes.push({ line, what: what(first) });
  };
  for (const { message, was, line, lines } of reads) {
    if (was !== undefined)
      note(
        `message ${was}`,
        line,
        (first) => `The number ${was} stands in line ${first} already: leave it out of the copy.`,
      );
    for (const [i, part] of message.parts.entries())
      if (part.type === 'tool-call')
        note(
          `call ${part.id}`,
          lines[i] ?? line,
          (first) => `The call id ${part.id} is used in line ${first} already.`,
        );
  }
  return mistakes;
}

/** Results for calls that nobody made. */
function unanswered(reads: readonly Read[]): readonly Mistake[] {
  return reads.flatMap(({ message, line, lines }, i) => {
    const made = new Set(reads[i - 1]?.message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])));
    return message.parts.flatMap((part, k) =>
      part.type === 'tool-result' && message.role === 'tool' && !made.has(part.id)
        ? [{ line: lines[k] ?? line, what: `No call with the id ${part.id} is made in the message before this one.` }]
        : [],
    );
  });
}

/** What keeps the whole from being sent to any model, at the message where it shows first. */
function legality(messages: readonly Message[], reads: readonly Read[]): readonly Mistake[] {
  const what = messages.length ? historyError(messages) : undefined;
  if (what === undefined) return [];
  let [low, high] = [1, messages.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (historyError(messages.slice(0, middle)) === what) high = middle;
    else low = middle + 1;
  }
  return [{ line: reads[low - 1]?.line ?? 1, what }];
}
