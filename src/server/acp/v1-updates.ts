// Maps transcript blocks to ACP version 1 updates. Sent text cannot be withdrawn in version 1, so discarded text is marked as such.
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import {
  toToolCallContent,
  toToolCallHeader,
  fenceMarkdown,
  toTextContent,
  callStatuses,
  type CallPathResolver,
  type TextBlock,
} from './tool-calls.ts';
import type { CallBlock, TranscriptSink } from '../../sessions/index.ts';

/** Interval and tail size of progress updates. */
const progressIntervalMs = 250;
const maxProgressChars = 4000;

type OpenText = { readonly type: TextBlock['type']; readonly message: string; text: string };
type OpenCall = { readonly block: CallBlock; output: string; lastSentAt: number };

/** Creates the mapper; `notices` says whether the editor supports notices. */
export function createV1Updates(
  send: (update: SessionUpdate) => void,
  { notices, locate }: { readonly notices: boolean; readonly locate: CallPathResolver },
): TranscriptSink {
  const live = new Map<string, OpenText>();
  const going = new Map<string, OpenCall>();
  let dropped = 0;

  function speak(type: TextBlock['type'], text: string, messageId?: string): void {
    send({
      sessionUpdate: type === 'assistant' ? 'agent_message_chunk' : 'agent_thought_chunk',
      content: { type: 'text', text },
      ...(messageId === undefined ? {} : { messageId }),
    });
  }

  /** Sends the unsent suffix of a text. */
  function speech({ id, type, text, settled }: TextBlock): void {
    const known = live.get(id) ?? { type, message: dropped ? `${id}~${dropped}` : id, text: '' };
    const rest = text.startsWith(known.text) ? text.slice(known.text.length) : text;
    if (rest) speak(type, rest, known.message);
    known.text = text;
    if (settled) live.delete(id);
    else live.set(id, known);
  }

  function notice(level: string, text: string): void {
    if (notices) send({ sessionUpdate: 'notice', severity: level, title: text });
    else speak('reasoning', `${text}\n`);
  }

  function call(block: CallBlock): void {
    const status = callStatuses[block.status];
    const content = toToolCallContent(block, locate);
    if (going.has(block.id))
      send({
        sessionUpdate: 'tool_call_update',
        toolCallId: block.id,
        status,
        rawInput: block.input,
        ...(content.length ? { content } : {}),
      });
    else send({ sessionUpdate: 'tool_call', ...toToolCallHeader(block, locate), status, content });
    if (status === 'completed' || status === 'failed') going.delete(block.id);
    else going.set(block.id, { block, output: '', lastSentAt: 0 });
  }

  function progress(each: OpenCall, text: string): void {
    each.output = `${each.output}${text}`.slice(-maxProgressChars);
    const now = performance.now();
    if (now - each.lastSentAt < progressIntervalMs) return;
    each.lastSentAt = now;
    send({
      sessionUpdate: 'tool_call_update',
      toolCallId: each.block.id,
      content: [toTextContent(fenceMarkdown(each.output))],
    });
  }

  return {
    putBlock(block) {
      switch (block.type) {
        case 'user':
          return send({
            sessionUpdate: 'user_message_chunk',
            content: { type: 'text', text: block.text },
            messageId: block.id,
          });
        case 'assistant':
        case 'reasoning':
          return speech(block);
        case 'call':
          return call(block);
        case 'notice':
          return notice(block.level, block.text);
        case 'output':
          return undefined;
      }
    },
    appendText(id, text) {
      const known = live.get(id);
      if (known) {
        known.text += text;
        return speak(known.type, text, known.message);
      }
      const each = going.get(id);
      return each && progress(each, text);
    },
    removeBlock(id) {
      const known = live.get(id);
      live.delete(id);
      if (!known?.text) return;
      dropped += 1;
      notice('warning', 'What was said last was cut off and does not count.');
    },
  };
}
