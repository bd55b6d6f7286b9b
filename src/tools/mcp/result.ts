// Converts the result of an MCP tool: text for the model, data for programs, bounded and untrusted.
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import {
  toolOutput,
  wrapUntrusted,
  truncateMiddle,
  toJson,
  neutralizeText,
  escapeInvisibleLine,
  type Json,
  type ToolOutput,
} from '../../core/index.ts';
import { parseFlowLabels } from './flow-hints.ts';

const maxTextChars = 100_000;
const maxDataChars = 1_000_000;
const maxBlocks = 1000;

/** Returns the output of a result, built from its text and data only, even if it looks like one of our own outputs. */
export function mcpResultOutput(server: string, result: CallToolResult): ToolOutput {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const { structuredContent } = result;
  const labels = parseFlowLabels(result._meta);
  const data = structuredContent === undefined ? undefined : boundedData(structuredContent);
  const texts = blocks
    .slice(0, maxBlocks)
    .map(formatContentBlock)
    .filter((text) => text !== '');
  if (blocks.length > maxBlocks) texts.push(`[… ${blocks.length - maxBlocks} more pieces omitted]`);
  if (texts.length === 0 && structuredContent !== undefined) texts.push(neutralizeText(JSON.stringify(data)));
  return toolOutput({
    text: texts.length === 0 ? '(no output)' : untrustedServerText(server, texts.join('\n')),
    ...(data === undefined ? {} : { data }),
    ...(labels ? { labels } : {}),
    ...(result.isError === true ? { failed: true } : {}),
  });
}

/** Wraps text of a server in a block that names its source, shortened to a usable length. */
export const untrustedServerText = (server: string, text: string): string =>
  wrapUntrusted(`the MCP server ${escapeInvisibleLine(server)}`, truncateMiddle(text, maxTextChars));

function boundedData(value: unknown): Json {
  const data = toJson(value);
  const { length } = JSON.stringify(data);
  return length <= maxDataChars ? data : `[structured content of ${length} characters, omitted]`;
}

/** Formats a content block as text. Content other than text is described by kind and size. */
export function formatContentBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return neutralizeText(block.text);
    case 'image':
    case 'audio':
      return `[${block.type}, ${escapeInvisibleLine(block.mimeType)}, ${formatBase64Size(block.data)}]`;
    case 'resource':
      return formatResourceContents(block.resource);
    case 'resource_link':
      return `[resource ${escapeInvisibleLine(block.name)}: ${escapeInvisibleLine(block.uri)}]`;
    default:
      return '[content of an unknown kind]';
  }
}

/** Formats the contents of a resource as text. */
export function formatResourceContents(resource: {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly text?: string;
  readonly blob?: string;
}): string {
  const uri = escapeInvisibleLine(resource.uri);
  if (typeof resource.text === 'string') return `[resource ${uri}]\n${neutralizeText(resource.text)}`;
  return `[resource ${uri}, ${escapeInvisibleLine(resource.mimeType ?? 'of an unknown kind')}, ${formatBase64Size(resource.blob ?? '')}]`;
}

const formatBase64Size = (base64: string): string => `${Math.ceil((base64.length * 3) / 4)} bytes`;
