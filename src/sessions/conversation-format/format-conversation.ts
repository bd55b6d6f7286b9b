// Formats a conversation as editable text: headings with verbatim text below. Unchanged parts round-trip exactly.
import type { FilePart, Message, MessagePart } from '../../core/index.ts';

/** Begins the line above a message: `%%% user 3`. */
export const MESSAGE_PREFIX = '%%% ';

/** Begins the line above a part: `%% call id tool`. */
export const PART_PREFIX = '%% ';

/** The help comment at the top of the editable text. */
export const editInstructions: readonly string[] = [
  '# Change, remove, add or move messages, then save and leave: the old conversation stays as a branch.',
  '# Leave without a change, or empty the file, to cancel.',
  '# "%%% user", "%%% assistant" and "%%% tool" begin a message. The number says which one it was:',
  '# leave it out for a new one. "%% text", "%% reasoning", "%% call <id> <tool>" with JSON below it,',
  '# "%% result <id> <tool> [failed]" and "%% file" begin its parts. A backslash before %% is not part',
  '# of the text.',
];

/** Formats a conversation. */
export function formatConversation(messages: readonly Message[]): string {
  const blocks = messages.map((message, i) => {
    const lines = message.parts.flatMap((part, k) => formatPartLines(part, k, i));
    return [`${MESSAGE_PREFIX}${message.role} ${i + 1}`, ...lines].join('\n');
  });
  return `${[editInstructions.join('\n'), ...blocks].join('\n\n')}\n`;
}

function formatPartLines(part: MessagePart, index: number, message: number): readonly string[] {
  switch (part.type) {
    case 'text':
      return index === 0 && part.text.trim() !== '' && isPlainText(part.text)
        ? escapeBodyLines(part.text)
        : formatTitledBody(['text'], part.text);
    case 'reasoning':
      return formatTitledBody(['reasoning'], part.text);
    case 'tool-result':
      return formatTitledBody(
        ['result', quoteWord(part.id), quoteWord(part.tool), ...(part.failed ? ['failed'] : [])],
        part.text,
      );
    case 'tool-call': {
      const call = [
        formatHeading('call', quoteWord(part.id), quoteWord(part.tool)),
        ...escapeBodyLines(JSON.stringify(part.input, null, 2)),
      ];
      return part.invalid === undefined ? call : [...call, ...formatTitledBody(['invalid'], part.invalid)];
    }
    case 'file': {
      return [formatHeading('file', `${message + 1}.${index + 1}`, ...describeFilePart(part).map(quoteWord))];
    }
  }
}

/** Formats a file reference; file data is not editable. */
export const describeFilePart = ({ mediaType, data, name }: FilePart): readonly string[] => [
  mediaType,
  `${data.length}`,
  ...(name === undefined ? [] : [name]),
];

const formatHeading = (...words: readonly string[]): string => PART_PREFIX + words.join(' ');

/** Formats a text below its heading; as JSON if an editor could not preserve it. */
const formatTitledBody = (words: readonly string[], text: string): readonly string[] =>
  isPlainText(text)
    ? [formatHeading(...words), ...escapeBodyLines(text)]
    : [formatHeading(...words, 'json'), JSON.stringify(text)];

/** Editors change lone carriage returns, and lone surrogates cannot be written to a file. */
const isPlainText = (text: string): boolean => !/[\r\0]/.test(text) && text.isWellFormed();

/** Escapes lines that look like a heading. */
const escapeBodyLines = (text: string): readonly string[] =>
  text.split('\n').map((line) => (/^\\*%%/.test(line) ? `\\${line}` : line));

/** Formats a name as one word; as a JSON string if it has special characters. */
const quoteWord = (text: string): string => (/^[\w.:/+-]+$/.test(text) ? text : JSON.stringify(text));
