// Converts ACP prompt content to message parts. Content that the user did not type is marked as untrusted.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expandCommand, type UserCommand } from '../../agent/index.ts';
import { FairleadError, wrapUntrusted, escapeInvisibleLine, isPathInside, type MessagePart } from '../../core/index.ts';
import type { Conversation } from '../../coding-agent/index.ts';

/** Options of the conversion. */
export type PromptContext = {
  readonly cwd: string;
  /** Whether the model accepts images; true if unknown. */
  readonly images: boolean;
  /** The user commands: a prompt that starts with one is expanded. */
  readonly commands: readonly UserCommand[];
};

/** Returns the options for a conversation. */
export function getPromptContext(conversation: Conversation): PromptContext {
  const { name } = conversation.model;
  return {
    cwd: conversation.agent.workspace.cwd,
    images: conversation.models().find(({ id }) => id === name)?.images !== false,
    commands: conversation.agent.commands,
  };
}

/** Converts a prompt to message parts. */
export function parsePromptContent(prompt: readonly ContentBlock[], reading: PromptContext): readonly MessagePart[] {
  const parts = prompt.map((block, i) => toMessagePart(block, reading, i === 0));
  if (parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    throw new FairleadError('acp/empty-prompt', 'The prompt is empty.', { blame: 'user' });
  return parts;
}

function toMessagePart(block: ContentBlock, reading: PromptContext, first: boolean): MessagePart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: first ? expandUserCommand(block.text, reading.commands) : block.text };
    case 'resource_link':
      return {
        type: 'text',
        text: `[${escapeInvisibleLine(block.name)}](${formatResourcePath(block.uri, reading.cwd)})`,
      };
    case 'resource': {
      const { resource } = block;
      if ('text' in resource)
        return { type: 'text', text: wrapUntrusted(formatResourcePath(resource.uri, reading.cwd), resource.text) };
      const mediaType = resource.mimeType ?? 'application/octet-stream';
      return mediaType.startsWith('image/')
        ? toImagePart(mediaType, resource.blob, reading)
        : throwUnsupportedContent(mediaType);
    }
    case 'image':
      return toImagePart(block.mimeType, block.data, reading);
    case 'audio':
      return throwUnsupportedContent(block.type);
  }
}

function toImagePart(mediaType: string, data: string, { images }: PromptContext): MessagePart {
  if (images) return { type: 'file', mediaType, data };
  throw new FairleadError('acp/no-images', 'The model of this session cannot see images.', {
    blame: 'user',
    hint: 'Choose another model, or leave the image away.',
  });
}

function throwUnsupportedContent(what: string): never {
  throw new FairleadError(
    'acp/unreadable',
    `A prompt cannot hold ${escapeInvisibleLine(what)}: only text and images.`,
    {
      blame: 'user',
      hint: 'Name the file instead, so that tools can look at it.',
    },
  );
}

/** Formats a file URI as a path relative to the working directory; other URIs unchanged. */
function formatResourcePath(uri: string, cwd: string): string {
  if (!uri.startsWith('file:')) return escapeInvisibleLine(uri);
  try {
    const file = fileURLToPath(uri);
    return escapeInvisibleLine(file !== cwd && isPathInside(cwd, file) ? path.relative(cwd, file) : file);
  } catch {
    return escapeInvisibleLine(uri);
  }
}

function expandUserCommand(text: string, commands: readonly UserCommand[]): string {
  const [, name, args = ''] = /^\/(\S+)\s*([^]*)$/.exec(text) ?? [];
  const command = commands.find((each) => each.name === name);
  return command ? expandCommand(command, args).text : text;
}
