// Formats a request as a prompt of the embedded model: short, in its chat template, and append-only.
import {
  formatToolResult,
  isObject,
  toArray,
  type FilePart,
  type Json,
  type Message,
  type MessagePart,
  type ModelRequest,
  type ToolSpec,
} from '../../core/index.ts';
import type { ChatTemplate, ToolFormat } from './chat-templates.ts';
import { stringifySpaced } from './grammar.ts';
import { formatCall, formatCallResult, formatToolSection } from './tool-format.ts';

/** A segment of a prompt. Only `markup` may contain the special tokens of the chat template; text of users and tools may not. */
export type PromptSegment = { readonly text: string; readonly markup: boolean };

/** Returns the prompt of a request up to the start of the answer. */
export function renderPrompt(
  request: Pick<ModelRequest, 'system' | 'messages'> & Partial<Pick<ModelRequest, 'tools'>>,
  template: ChatTemplate,
  toolFormat?: ToolFormat,
): readonly PromptSegment[] {
  const { tools = [] } = request;
  const section = toolFormat !== undefined && tools.length > 0 ? formatToolSection(tools) : '';
  const system = [request.system.trim(), section].filter(Boolean).join('\n\n');
  return mergeSegments([
    ...(system === '' ? [] : templateTurn(template, 'system', escapeTemplateMarkers(system, template))),
    ...toArray(request.messages).flatMap((message) =>
      templateTurn(
        template,
        message.role === 'assistant' ? 'assistant' : 'user',
        renderMessage(message, template, toolFormat),
      ),
    ),
    markupSegment(template.assistant[0]),
    markupSegment(template.answerStart ?? ''),
  ]);
}

/** Returns the start of a call, up to its input, which the model generates. After this sentence a model copies values from the request; after a bare name it invents them. */
export const toolCallPrefix = (tool: string, keys: readonly string[]): string =>
  keys.length > 0
    ? `I use the tool ${tool} with the ${keys.join(' and ')} from your request: `
    : `I use the tool ${tool}: `;

/** Returns a message as prompt segments. */
export const renderMessage = (message: Message, template: ChatTemplate, toolFormat?: ToolFormat): string =>
  escapeTemplateMarkers(messageText(message, toolFormat), template);

/** Returns a text after which a request for this tool is likely; without a tool, a request for a text answer. It has no chat template, because the likelihood is that of plain language. */
export const toolRequestPrefix = (tool: ToolSpec | undefined): string =>
  `Tool ${tool ? `${tool.name}: ${firstSentence(tool.description)}` : 'none: Chat with the user.'} A user asks for it:\n`;

/** Returns the last user request without reminders, and the tools used for it since. */
export function lastUserRequest(request: Pick<ModelRequest, 'messages'>): {
  readonly text: string;
  readonly used: ReadonlySet<string>;
} {
  const messages = toArray(request.messages);
  const at = messages.findLastIndex((message) => message.role === 'user' && userTextOf(message) !== '');
  const calls = messages.slice(at + 1).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'));
  const asked = messages[at];
  return { text: asked ? userTextOf(asked) : '', used: new Set(calls.map((call) => call.tool)) };
}

const userTextOf = (message: Message): string =>
  message.parts
    .flatMap((part) => (part.type === 'text' && !part.text.startsWith('<system-reminder') ? [part.text] : []))
    .join('\n')
    .trim();

function messageText(message: Message, toolFormat: ToolFormat | undefined): string {
  return message.parts
    .map((part) => partText(part, toolFormat))
    .filter(Boolean)
    .join('\n')
    .trim();
}

function partText(part: MessagePart, toolFormat: ToolFormat | undefined): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'reasoning':
      return '';
    case 'file':
      return filePlaceholder(part);
    case 'tool-call':
      if (toolFormat !== undefined) return formatCall(part.tool, part.input);
      return `${toolCallPrefix(part.tool, isObject(part.input) ? Object.keys(part.input) : [])}${stringifySpaced(part.input)}`;
    case 'tool-result':
      return formatResult(
        part.tool,
        part.failed,
        [formatToolResult(part), ...(part.files ?? []).map(filePlaceholder)].join('\n'),
        toolFormat,
      );
  }
}

const formatResult = (tool: string, failed: boolean, text: string, toolFormat: ToolFormat | undefined): string =>
  toolFormat === undefined
    ? `${failed ? 'Error' : 'Result'} of ${tool}:\n${text}`
    : formatCallResult(failed ? `Error: ${text}` : text);

const filePlaceholder = ({ name, mediaType }: FilePart): string =>
  `(${name ?? 'a file'} of type ${mediaType}, which cannot be shown here)`;

function templateTurn(template: ChatTemplate, role: TemplateRole, text: string): readonly PromptSegment[] {
  const [before, after] = template[role];
  const start = role === 'assistant' ? (template.answerStart ?? '') : '';
  return [markupSegment(`${before}${start}`), { text, markup: false }, markupSegment(after)];
}

const markupSegment = (text: string): PromptSegment => ({ text, markup: true });

type TemplateRole = Exclude<keyof ChatTemplate, 'answerStart'>;

/** Returns the markers that start a turn. */
export const turnMarkers = ({ system, user, assistant }: ChatTemplate): readonly string[] =>
  [system, user, assistant].map(([before]) => before.trim()).filter(Boolean);

/** Splits turn markers that consist of ordinary characters, so that no text can imitate a turn. */
function escapeTemplateMarkers(text: string, template: ChatTemplate): string {
  let safe = text;
  for (const mark of turnMarkers(template)) {
    safe = safe.replaceAll(mark, `${mark.slice(0, 1)} ${mark.slice(1)}`);
  }
  return safe;
}

/** Merges adjacent segments of one kind, as in the training data. */
function mergeSegments(segments: readonly PromptSegment[]): readonly PromptSegment[] {
  const joined: PromptSegment[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    if (segment.text === '') continue;
    if (last?.markup === segment.markup) joined[joined.length - 1] = { ...last, text: last.text + segment.text };
    else joined.push(segment);
  }
  return joined;
}

const maxSentenceChars = 160;

function firstSentence(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  const sentence = /^.+?[.!?](?= |$)/.exec(line)?.[0] ?? line;
  return sentence.length > maxSentenceChars ? `${sentence.slice(0, maxSentenceChars)}…` : sentence;
}

/** Returns the input of a call if the text is a complete JSON object. */
export function parseCallInput(text: string): Json | undefined {
  if (!text.endsWith('}')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
