// Formats what a compaction changed, for the user: kept, removed and added parts.
import { messageText, messageTokens, type Message, type MessagePart } from '../../core/index.ts';

type DiffMark = '=' | '-' | '+';
type DiffPiece = { readonly mark: DiffMark; readonly message: Message };

/** Returns the difference between a conversation and its compacted form: `=` kept unchanged, `-` removed, `+` added. */
export function compactionDiff(before: readonly Message[], after: readonly Message[]): string {
  const oldPieces = diffPieces(before, after, '-');
  const newPieces = diffPieces(after, before, '+').filter((piece) => piece.mark === '+');
  const insertAt = Math.max(0, oldPieces.findLastIndex((piece) => piece.mark === '-') + 1);
  const pieces = [...oldPieces.slice(0, insertAt), ...newPieces, ...oldPieces.slice(insertAt)];
  const count = (mark: DiffMark): string =>
    formatTokens(pieces.flatMap((each) => (each.mark === mark ? [each.message] : [])));
  return [
    `before: ${before.length} messages, ${formatTokens(before)}`,
    `after: ${after.length} messages, ${formatTokens(after)}`,
    `kept: ${count('=')}; removed: ${count('-')}; added: ${count('+')}`,
    '',
    ...groupRuns(pieces).flatMap(formatRun),
  ].join('\n');
}

/** Splits the messages of one side into parts that the other side also has and parts that it has not. */
function diffPieces(messages: readonly Message[], other: readonly Message[], mark: DiffMark): readonly DiffPiece[] {
  const otherCounts = new Map<string, number>();
  for (const part of other.flatMap((message) => message.parts)) {
    const key = JSON.stringify(part);
    otherCounts.set(key, (otherCounts.get(key) ?? 0) + 1);
  }
  const isInOther = (part: MessagePart): boolean => {
    const key = JSON.stringify(part);
    const count = otherCounts.get(key) ?? 0;
    otherCounts.set(key, count - 1);
    return count > 0;
  };
  return messages.flatMap(({ role, parts }): readonly DiffPiece[] => {
    const same = parts.filter(isInOther);
    const rest = parts.filter((part) => !same.includes(part));
    return [
      ...(same.length ? [{ mark: '=', message: { role, parts: same } } as const] : []),
      ...(rest.length ? [{ mark, message: { role, parts: rest } }] : []),
    ];
  });
}

function groupRuns(pieces: readonly DiffPiece[]): readonly (readonly DiffPiece[])[] {
  const runs: DiffPiece[][] = [];
  for (const piece of pieces) {
    const run = runs.at(-1);
    if (run?.[0]?.mark === piece.mark) run.push(piece);
    else runs.push([piece]);
  }
  return runs;
}

/** Formats a run of parts. Changed parts are shown in full; of a long unchanged run, only its ends. */
function formatRun(run: readonly DiffPiece[]): readonly string[] {
  const mark = run[0]?.mark ?? '=';
  if (mark === '+')
    return run.flatMap(({ message }) => `${message.role}: ${fullText(message)}`.split('\n').map((line) => `+ ${line}`));
  if (run.length <= 5) return run.map(({ message }) => `${mark} ${shortText(message)}`);
  const between = run.slice(2, -2).map((piece) => piece.message);
  return [
    ...run.slice(0, 2).map(({ message }) => `${mark} ${shortText(message)}`),
    `${mark} … ${between.length} more messages, ${formatTokens(between)}`,
    ...run.slice(-2).map(({ message }) => `${mark} ${shortText(message)}`),
  ];
}

const fullText = (message: Message): string => messageText(message) || message.parts.map(formatPart).join(' ');

function shortText(message: Message): string {
  const text = message.parts.map(formatPart).join(' ').replaceAll(/\s+/g, ' ').trim();
  return `${message.role}: ${text.length > 70 ? `${text.slice(0, 69).trimEnd()}…` : text} (${formatTokens([message])})`;
}

function formatPart(part: MessagePart): string {
  if (part.type === 'tool-call') return `${part.tool} ${JSON.stringify(part.input)}`;
  return part.type === 'file' ? `[${part.name ?? part.mediaType}]` : part.text;
}

function formatTokens(messages: readonly Message[]): string {
  const size = messageTokens(messages);
  return `about ${size.toLocaleString('en')} ${size === 1 ? 'token' : 'tokens'}`;
}
