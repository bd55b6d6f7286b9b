// What an editor sends as a prompt, as the parts of a message. What its person did not type is marked as coming from outside.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expandCommand, type UserCommand } from '../../agent/index.ts';
import { FairleadError, wrapUntrusted, escapeInvisibleLine, type MessagePart } from '../../core/index.ts';
import type { Conversation } from '../conversation/conversation.ts';

/** What decides how a prompt is read. */
export type Reading = {
  readonly cwd: string;
  /** Whether the model sees images; true where nobody knows. */
  readonly images: boolean;
  /** The person's own commands: a prompt that begins with the name of one stands for its text. */
  readonly commands: readonly UserCommand[];
};

/** How a prompt to this conversation is read. */
export function readingOf(talk: Conversation): Reading {
  const { name } = talk.model;
  return {
    cwd: talk.outfit.workspace.cwd,
    images: talk.models().find(({ id }) => id === name)?.images !== false,
    commands: talk.outfit.commands,
  };
}

/** The parts of a message for this prompt. */
export function wordsFrom(prompt: readonly ContentBlock[], reading: Reading): readonly MessagePart[] {
  const parts = prompt.map((block, i) => partFor(block, reading, i === 0));
  if (parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    throw new FairleadError('acp/empty-prompt', 'The prompt is empty.', { blame: 'user' });
  return parts;
}

function partFor(block: ContentBlock, reading: Reading, first: boolean): MessagePart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: first ? expanded(block.text, reading.commands) : block.text };
    case 'resource_link':
      return { type: 'text', text: `[${escapeInvisibleLine(block.name)}](${placeOf(block.uri, reading.cwd)})` };
    case 'resource': {
      const { resource } = block;
      if ('text' in resource)
        return { type: 'text', text: wrapUntrusted(placeOf(resource.uri, reading.cwd), resource.text) };
      const mediaType = resource.mimeType ?? 'application/octet-stream';
      return mediaType.startsWith('image/') ? image(mediaType, resource.blob, reading) : unreadable(mediaType);
    }
    case 'image':
      return image(block.mimeType, block.data, reading);
    case 'audio':
      return unreadable(block.type);
  }
}

function image(mediaType: string, data: string, { images }: Reading): MessagePart {
  if (images) return { type: 'file', mediaType, data };
  throw new FairleadError('acp/no-images', 'The model of this session cannot see images.', {
    blame: 'user',
    hint: 'Choose another model, or leave the image away.',
  });
}

function unreadable(what: string): never {
  throw new FairleadError(
    'acp/unreadable',
    `A prompt cannot hold ${escapeInvisibleLine(what)}: only text and images.`,
    {
      blame: 'user',
      hint: 'Name the file instead, so that tools can look at it.',
    },
  );
}

/** A file's path, from the working folder where it lies in it; any other address as it is. */
function placeOf(uri: string, cwd: string): string {
  if (!uri.startsWith('file:')) return escapeInvisibleLine(uri);
  try {
    const file = fileURLToPath(uri);
    const inside = path.relative(cwd, file);
    return escapeInvisibleLine(inside && !inside.startsWith('..') && !path.isAbsolute(inside) ? inside : file);
  } catch {
    return escapeInvisibleLine(uri);
  }
}

function expanded(text: string, commands: readonly UserCommand[]): string {
  const [, name, args = ''] = /^\/(\S+)\s*([^]*)$/.exec(text) ?? [];
  const command = commands.find((each) => each.name === name);
  return command ? expandCommand(command, args).text : text;
}
