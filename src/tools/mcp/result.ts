// What an MCP server answered, as a tool's output: text for the model, structure for programs, all of it bounded and none of it believed.
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import {
  toolOutput,
  wrapUntrusted,
  truncateMiddle,
  toJson,
  escapeInvisible,
  escapeInvisibleLine,
  type Json,
  type ToolOutput,
} from '../../core/index.ts';

const mostText = 100_000;
const mostData = 1_000_000;
const mostBlocks = 1000;

/** The output for a result. However much it looks like one of ours, it is made here, from text and data alone. */
export function resultOutput(server: string, result: CallToolResult): ToolOutput {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const { structuredContent } = result;
  const data = structuredContent === undefined ? undefined : dataOf(structuredContent);
  const said = blocks
    .slice(0, mostBlocks)
    .map(wordsOf)
    .filter((text) => text !== '');
  if (blocks.length > mostBlocks) said.push(`[… ${blocks.length - mostBlocks} more pieces left out]`);
  if (said.length === 0 && structuredContent !== undefined) said.push(escapeInvisible(JSON.stringify(data)));
  return toolOutput({
    text: said.length === 0 ? '(no output)' : foreign(server, said.join('\n')),
    ...(data === undefined ? {} : { data }),
    ...(result.isError === true ? { failed: true } : {}),
  });
}

/** A server's words in a block that says whose they are, no longer than a model can use. */
export const foreign = (server: string, text: string): string =>
  wrapUntrusted(`the MCP server ${escapeInvisibleLine(server)}`, truncateMiddle(text, mostText));

function dataOf(value: unknown): Json {
  const data = toJson(value);
  const { length } = JSON.stringify(data);
  return length <= mostData ? data : `[structured content of ${length} characters, left out]`;
}

/** A piece of an answer in words. What is no text is mentioned with its kind and size. */
export function wordsOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return escapeInvisible(block.text);
    case 'image':
    case 'audio':
      return `[${block.type}, ${escapeInvisibleLine(block.mimeType)}, ${sizeOf(block.data)}]`;
    case 'resource':
      return contentsOf(block.resource);
    case 'resource_link':
      return `[resource ${escapeInvisibleLine(block.name)}: ${escapeInvisibleLine(block.uri)}]`;
    default:
      return '[something of a kind that is not known here]';
  }
}

/** The contents of a resource in words. */
export function contentsOf(resource: {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly text?: string;
  readonly blob?: string;
}): string {
  const uri = escapeInvisibleLine(resource.uri);
  if (typeof resource.text === 'string') return `[resource ${uri}]\n${escapeInvisible(resource.text)}`;
  return `[resource ${uri}, ${escapeInvisibleLine(resource.mimeType ?? 'of an unknown kind')}, ${sizeOf(resource.blob ?? '')}]`;
}

const sizeOf = (base64: string): string => `${Math.ceil((base64.length * 3) / 4)} bytes`;
