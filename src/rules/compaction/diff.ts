// What a compaction changed, for a person: what was kept, what was taken out and what came in its place.
import { messageText, messageTokens, type Message, type MessagePart } from '../../core/index.ts';

type Mark = '=' | '-' | '+';
type Piece = { readonly mark: Mark; readonly message: Message };

/** The difference between a conversation and its compacted form as text: `=` kept word for word, `-` taken out, `+` put in their place. */
export function compactionDiff(before: readonly Message[], after: readonly Message[]): string {
  const old = piecesOf(before, after, '-');
  const put = piecesOf(after, before, '+').filter((piece) => piece.mark === '+');
  const gap = Math.max(0, old.findLastIndex((piece) => piece.mark === '-') + 1);
  const pieces = [...old.slice(0, gap), ...put, ...old.slice(gap)];
  const count = (mark: Mark): string => tokens(pieces.flatMap((each) => (each.mark === mark ? [each.message] : [])));
  return [
    `before: ${before.length} messages, ${tokens(before)}`,
    `after: ${after.length} messages, ${tokens(after)}`,
    `kept word for word: ${count('=')}; taken out: ${count('-')}; put in their place: ${count('+')}`,
    '',
    ...runsOf(pieces).flatMap(linesOf),
  ].join('\n');
}

/** The messages of one side, each split into what the other side also has and what it has not. */
function piecesOf(messages: readonly Message[], other: readonly Message[], mark: Mark): readonly Piece[] {
  const there = new Map<string, number>();
  for (const part of other.flatMap((message) => message.parts)) {
    const key = JSON.stringify(part);
    there.set(key, (there.get(key) ?? 0) + 1);
  }
  const take = (part: MessagePart): boolean => {
    const key = JSON.stringify(part);
    const left = there.get(key) ?? 0;
    there.set(key, left - 1);
    return left > 0;
  };
  return messages.flatMap(({ role, parts }): readonly Piece[] => {
    const same = parts.filter(take);
    const rest = parts.filter((part) => !same.includes(part));
    return [
      ...(same.length ? [{ mark: '=', message: { role, parts: same } } as const] : []),
      ...(rest.length ? [{ mark, message: { role, parts: rest } }] : []),
    ];
  });
}

function runsOf(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const runs: Piece[][] = [];
  for (const piece of pieces) {
    const run = runs.at(-1);
    if (run?.[0]?.mark === piece.mark) run.push(piece);
    else runs.push([piece]);
  }
  return runs;
}

/** What is new is shown whole; of a long run of the rest, its ends and what lies between in one line. */
function linesOf(run: readonly Piece[]): readonly string[] {
  const mark = run[0]?.mark ?? '=';
  if (mark === '+')
    return run.flatMap(({ message }) => `${message.role}: ${whole(message)}`.split('\n').map((line) => `+ ${line}`));
  if (run.length <= 5) return run.map(({ message }) => `${mark} ${inShort(message)}`);
  const between = run.slice(2, -2).map((piece) => piece.message);
  return [
    ...run.slice(0, 2).map(({ message }) => `${mark} ${inShort(message)}`),
    `${mark} … ${between.length} more messages, ${tokens(between)}`,
    ...run.slice(-2).map(({ message }) => `${mark} ${inShort(message)}`),
  ];
}

const whole = (message: Message): string => messageText(message) || message.parts.map(wordsOf).join(' ');

function inShort(message: Message): string {
  const text = message.parts.map(wordsOf).join(' ').replaceAll(/\s+/g, ' ').trim();
  return `${message.role}: ${text.length > 70 ? `${text.slice(0, 69).trimEnd()}…` : text} (${tokens([message])})`;
}

function wordsOf(part: MessagePart): string {
  if (part.type === 'tool-call') return `${part.tool} ${JSON.stringify(part.input)}`;
  return part.type === 'file' ? `[${part.name ?? part.mediaType}]` : part.text;
}

function tokens(messages: readonly Message[]): string {
  const size = messageTokens(messages);
  return `about ${size.toLocaleString('en')} ${size === 1 ? 'token' : 'tokens'}`;
}
