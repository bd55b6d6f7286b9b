// A request as the small model reads it: short, in the chat dialect it was trained on, and growing only at its end.
import {
  isObject,
  toArray,
  type FilePart,
  type Json,
  type Message,
  type MessagePart,
  type ModelRequest,
  type ToolSpec,
} from '../../core/index.ts';
import { stringifySpaced } from './grammar.ts';
import type { ChatTemplate } from './models.ts';

/** A stretch of a prompt. Only `markup` may hold the special tokens of a dialect; what people and tools say never can. */
export type PromptSegment = { readonly text: string; readonly markup: boolean };

/** The prompt of a request up to where the answer begins. */
export function renderPrompt(
  request: Pick<ModelRequest, 'system' | 'messages'>,
  template: ChatTemplate,
): readonly PromptSegment[] {
  const system = request.system.trim();
  return mergeSegments([
    ...(system === '' ? [] : templateTurn(template, 'system', escapeTemplateMarkers(system, template))),
    ...toArray(request.messages).flatMap((message) =>
      templateTurn(template, message.role === 'assistant' ? 'assistant' : 'user', renderMessage(message, template)),
    ),
    markupSegment(template.assistant[0]),
  ]);
}

/** How a call begins in the model's own words: everything up to its input, which the model writes. Put like this it looks for the values in the request; after a bare name it invents them. */
export const toolCallPrefix = (tool: string, keys: readonly string[]): string =>
  keys.length > 0
    ? `I use the tool ${tool} with the ${keys.join(' and ')} from your request: `
    : `I use the tool ${tool}: `;

/** A message as text of the prompt. */
export const renderMessage = (message: Message, template: ChatTemplate): string =>
  escapeTemplateMarkers(messageText(message), template);

/** A text after which a request for this tool is likely to follow; without a tool, one for mere words. Plain text: it is the language that is asked here, not the assistant. */
export const toolRequestPrefix = (tool: ToolSpec | undefined): string =>
  `Tool ${tool ? `${tool.name}: ${firstSentence(tool.description)}` : 'none: Chat with the user.'} A user asks for it:\n`;

/** What the person last asked for, and which tools have been used for it since. Reminders are not the person's. */
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

function messageText(message: Message): string {
  return message.parts.map(partText).filter(Boolean).join('\n').trim();
}

function partText(part: MessagePart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'reasoning':
      return '';
    case 'file':
      return filePlaceholder(part);
    case 'tool-call':
      return `${toolCallPrefix(part.tool, isObject(part.input) ? Object.keys(part.input) : [])}${stringifySpaced(part.input)}`;
    case 'tool-result':
      return [
        `${part.failed ? 'Error' : 'Result'} of ${part.tool}:`,
        part.text,
        ...(part.files ?? []).map(filePlaceholder),
      ].join('\n');
  }
}

const filePlaceholder = ({ name, mediaType }: FilePart): string =>
  `(${name ?? 'a file'} of type ${mediaType}, which cannot be shown here)`;

function templateTurn(template: ChatTemplate, role: keyof ChatTemplate, text: string): readonly PromptSegment[] {
  const [before, after] = template[role];
  return [markupSegment(before), { text, markup: false }, markupSegment(after)];
}

const markupSegment = (text: string): PromptSegment => ({ text, markup: true });

/** Some dialects mark turns with ordinary characters: in what is quoted they are pulled apart, so that no text can pose as a turn. */
function escapeTemplateMarkers(text: string, template: ChatTemplate): string {
  let safe = text;
  for (const [before] of Object.values(template)) {
    const mark = before.trim();
    if (mark !== '') safe = safe.replaceAll(mark, `${mark.slice(0, 1)} ${mark.slice(1)}`);
  }
  return safe;
}

/** Neighbours of a kind become one, as they were when the model was trained. */
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

/** The input of a call, if the text is a whole JSON object. */
export function parseCallInput(text: string): Json | undefined {
  if (!text.endsWith('}')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
