// Converts the result of an MCP tool: text for the model, data for programs, bounded and untrusted.
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import {
  toolOutput,
  wrapUntrusted,
  truncateMiddle,
  toJson,
  neutralizeText,
  escapeInvisibleLine,
  type FilePart,
  type Json,
  type Provider,
  type ToolOutput,
} from '../../core/index.ts';
import { parseImage } from '../image.ts';
import { imageFilePart, maxShownImages, notShownReason } from '../shown-image.ts';
import { parseFlowLabels } from './flow-hints.ts';

const maxTextChars = 100_000;
const maxDataChars = 1_000_000;
const maxBlocks = 1000;

/** Returns the output of a result, built from its text, data and images only, even if it looks like one of our own outputs. A model with vision is shown the images. */
export function mcpResultOutput(server: string, result: CallToolResult, provider?: Provider): ToolOutput {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const { structuredContent } = result;
  const labels = parseFlowLabels(result._meta);
  const data = structuredContent === undefined ? undefined : boundedData(structuredContent);
  const files: FilePart[] = [];
  const texts = blocks
    .slice(0, maxBlocks)
    .map((block) => showImage(block, server, files, provider) ?? formatContentBlock(block))
    .filter((text) => text !== '');
  if (blocks.length > maxBlocks) texts.push(`[… ${blocks.length - maxBlocks} more pieces omitted]`);
  if (texts.length === 0 && structuredContent !== undefined) texts.push(neutralizeText(JSON.stringify(data)));
  return toolOutput({
    text: texts.length === 0 ? '(no output)' : untrustedServerText(server, texts.join('\n')),
    ...(data === undefined ? {} : { data }),
    ...(files.length > 0 ? { files } : {}),
    ...(labels ? { labels } : {}),
    ...(result.isError === true ? { failed: true } : {}),
  });
}

/** Adds the image of a block to the files if the model can be shown it, and returns the text that says so or why not; undefined if it holds no image. */
function showImage(
  block: ContentBlock,
  server: string,
  files: FilePart[],
  provider: Provider | undefined,
): string | undefined {
  const data = imageData(block);
  if (data === undefined) return undefined;
  const bytes = Buffer.from(data, 'base64');
  const image = parseImage(bytes);
  if (!image) return undefined;
  const tooMany = files.length < maxShownImages ? undefined : `only ${maxShownImages} are shown at once`;
  const why = notShownReason(image, bytes.length, provider) ?? tooMany;
  const description = `[image, ${image.mediaType}, ${image.width}×${image.height} pixels, ${bytes.length} bytes`;
  if (why !== undefined) return `${description}, not shown: ${why}]`;
  files.push(imageFilePart(bytes, image, `image ${files.length + 1} of the MCP server ${escapeInvisibleLine(server)}`));
  return `${description}, shown as image ${files.length}]`;
}

/** The base64 text of an image block, or of an embedded resource that is an image. */
function imageData(block: ContentBlock): string | undefined {
  if (block.type === 'image') return block.data;
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined;
  return block.resource.mimeType?.startsWith('image/') === true ? block.resource.blob : undefined;
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
