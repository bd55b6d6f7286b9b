// Maps transcript blocks to ACP version 2 updates; messages and calls have ids and can be replaced.
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk/experimental/v2';
import {
  callStatuses,
  toToolCallContent,
  toToolCallHeader,
  unwrapCall,
  getCallPath,
  type CallPathResolver,
  type TextBlock,
} from './tool-calls.ts';
import type { CallBlock, TranscriptSink } from '../../sessions/index.ts';

/** Creates the mapper; `onUserMessage` gets the id of each user message. */
export function createV2Updates(
  send: (update: SessionUpdate) => void,
  { locate, onUserMessage }: { readonly locate: CallPathResolver; readonly onUserMessage: (id: string) => void },
): TranscriptSink {
  const live = new Map<string, { readonly type: TextBlock['type']; text: string }>();

  function chunk(type: TextBlock['type'], messageId: string, text: string): void {
    const piece = { messageId, content: { type: 'text', text } } as const;
    if (type === 'assistant') send({ sessionUpdate: 'agent_message_chunk', ...piece });
    else send({ sessionUpdate: 'agent_thought_chunk', ...piece });
  }

  function replace(type: TextBlock['type'], messageId: string, text: string): void {
    const update = { messageId, content: text ? [{ type: 'text' as const, text }] : [] };
    if (type === 'assistant') send({ sessionUpdate: 'agent_message', ...update });
    else send({ sessionUpdate: 'agent_thought', ...update });
  }

  function speech({ id, type, text, settled }: TextBlock): void {
    const known = live.get(id);
    if (known?.text !== text && (text || known?.text)) replace(type, id, text);
    if (settled) live.delete(id);
    else live.set(id, { type, text });
  }

  return {
    putBlock(block) {
      switch (block.type) {
        case 'user':
          onUserMessage(block.id);
          return send({
            sessionUpdate: 'user_message',
            messageId: block.id,
            content: [{ type: 'text', text: block.text }],
          });
        case 'assistant':
        case 'reasoning':
          return speech(block);
        case 'call':
          return send({ sessionUpdate: 'tool_call_update', ...toV2ToolCall(block, locate) });
        case 'notice':
          return send({ sessionUpdate: 'notice', severity: block.level, title: block.text });
        case 'output':
          return undefined;
      }
    },
    appendText(id, text) {
      const known = live.get(id);
      if (!known)
        return send({
          sessionUpdate: 'tool_call_content_chunk',
          toolCallId: id,
          content: { type: 'content', content: { type: 'text', text } },
        });
      known.text += text;
      return chunk(known.type, id, text);
    },
    removeBlock(id) {
      const known = live.get(id);
      live.delete(id);
      if (known?.text) replace(known.type, id, '');
    },
  };
}

/** The full update of a call: it replaces the previous one. */
function toV2ToolCall(
  block: CallBlock,
  locate: CallPathResolver,
): ReturnType<typeof toToolCallHeader> & { status: string; content?: ToolCallContent[] } {
  const content = toV2Content(block, locate);
  return {
    ...toToolCallHeader(block, locate),
    status: block.status === 'interrupted' ? 'cancelled' : callStatuses[block.status],
    ...(content.length ? { content } : {}),
  };
}

function toV2Content(block: CallBlock, locate: CallPathResolver): ToolCallContent[] {
  const path = getCallPath(unwrapCall(block).input, locate);
  if (block.diff === undefined || path === undefined)
    return toToolCallContent(block, locate).filter((each) => each.type === 'content');
  const from = block.diff.indexOf('@@ ');
  const isNew = block.diff.startsWith('@@ -0,0 ', from);
  const file = { path, fileType: 'text' };
  return [
    {
      type: 'diff',
      changes: [isNew ? { operation: 'add', ...file } : { operation: 'modify', ...file }],
      ...(from < 0
        ? {}
        : { patch: { format: 'git_patch', text: formatGitPatch(block.diff.slice(from), path, isNew) } }),
    },
  ];
}

/** Formats diff hunks with git headers. */
function formatGitPatch(pieces: string, path: string, isNew: boolean): string {
  const name = path.replace(/^\//, '');
  return [
    `diff --git a/${name} b/${name}`,
    ...(isNew ? ['new file mode 100644'] : []),
    `--- ${isNew ? '/dev/null' : `a/${name}`}`,
    `+++ b/${name}`,
    pieces,
  ].join('\n');
}
