// What a compaction keeps, decided by structure alone: the task, the user's own words, the latest turns; never a call without its result.
import {
  parseNotes,
  truncateMiddle,
  partTokens,
  messageTokens,
  renderNotes,
  type FilePart,
  type Message,
  type Note,
  type MessagePart,
  type ToolResultPart,
  type TextPart,
} from '../../core/index.ts';

/** How much may be kept, in tokens as we estimate them. */
export type Budget = {
  /** Tokens that the new history should hold at most, and those that it must not exceed. */
  readonly room: number;
  readonly most: number;
  /** Of these, tokens for what stands in the place of the part left out. */
  readonly reserve: number;
  /** Tokens that the latest notes may take. */
  readonly notes: number;
  /** How many of the latest turns stay word for word at most. */
  readonly keepTurns: number;
};

/** A conversation taken apart: what stays as it is, and what is left out. */
export type Plan = {
  /** The first request of the user. */
  readonly task: readonly MessagePart[];
  /** What the user said in the part left out. */
  readonly words: readonly MessagePart[];
  readonly left: readonly Message[];
  /** The latest note of each key in the part left out. */
  readonly notes: readonly Note[];
  readonly tail: readonly Message[];
};

/** The key of the note that a compaction leaves behind; the next one replaces it. */
export const compactionKey = 'compaction';

/** What the loop says in the user's place where there is nothing to say. */
const standIn = 'Go on.';

/** What a person said in a message, without the notes that were shown beside it. */
export const ownWords = ({ role, parts }: Message): readonly MessagePart[] =>
  role === 'user'
    ? parts.filter((part) => part.type !== 'text' || !(part.text === standIn || parseNotes(part.text)))
    : [];

/** Takes a conversation apart so that what stays fits; nothing where that cannot be done without losing what must stay. */
export function planFor(messages: readonly Message[], budget: Budget): Plan | undefined {
  if (messages[0]?.role !== 'user' || messages.length < 2) return undefined;
  const notes = latestNotes(messages, budget.notes);
  const reserve = budget.reserve + partTokens(renderNotes(notes));
  const all = { ...budget, reserve };
  const from = verbatim(messages, all);
  if (from !== undefined) return planAt(messages, from, notes);
  // A quarter of the room for one result: beside it the turns before it still have a place.
  const cut = messages.map((message) => withResultsCut(message, budget.room));
  const at = verbatim(cut, all);
  if (at !== undefined) return { ...planAt(messages, at, notes), tail: cut.slice(at) };
  return squeezed(messages, notes, budget.room - reserve) ?? squeezed(messages, notes, budget.most - reserve);
}

/** Where the tail begins if as many of the latest turns stay as fit beside all that the user said, everything word for word. */
function verbatim(messages: readonly Message[], { room, reserve, keepTurns }: Budget): number | undefined {
  let said = messages.reduce((sum, each) => sum + partTokens(ownWords(each)), 0);
  let found: number | undefined;
  let size = 0;
  let turns = 0;
  for (let i = messages.length - 1; i > 1; i--) {
    const message = messages[i] as Message;
    said -= partTokens(ownWords(message));
    size += partTokens(message.parts);
    if (message.role === 'assistant') turns++;
    if (turns > keepTurns || said + size + reserve > room) break;
    if (message.role !== 'tool' && turns > 0) found = i;
  }
  return found;
}

/** The last turn alone, its results cut to what fits; where even that is too much, no turn. What the user said is cut last. */
function squeezed(messages: readonly Message[], notes: readonly Note[], room: number): Plan | undefined {
  const latest = messages.findLastIndex((message) => message.role === 'assistant');
  const none = messages.at(-1)?.role === 'user' ? messages.length - 1 : messages.length;
  for (const from of latest > 0 ? [latest, none] : [none]) {
    if (from < 1) continue;
    const plan = planAt(messages, from, notes);
    const left = room - partTokens(plan.task);
    const tail = withResultsIn(plan.tail, left - partTokens(plan.words));
    const words = wordsWithin(plan.words, left - messageTokens(tail));
    if (words) return { ...plan, words, tail };
  }
  return undefined;
}

/** These messages in this many tokens, if cutting results is enough for it. */
function withResultsIn(messages: readonly Message[], room: number): readonly Message[] {
  const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  const rest = room - partTokens(messages.flatMap(({ parts }) => parts.filter((part) => part.type !== 'tool-result')));
  // Less what `shorten` adds to say what it left out.
  return messages.map((message) => withResultsCut(message, Math.floor((rest / results.length) * 4) - 80));
}

/** A result must still say what it is the result of. */
const leastOfResult = 500;

const withResultsCut = ({ role, parts }: Message, most: number): Message => ({
  role,
  parts: parts.map((part) => (part.type === 'tool-result' ? resultCut(part, Math.max(leastOfResult, most)) : part)),
});

/** Pictures are the first to go: they can be looked at again. */
function resultCut({ files = [], ...part }: ToolResultPart, most: number): ToolResultPart {
  return {
    ...part,
    text: truncateMiddle([part.text, ...files.map((file) => fileLeftOut(file).text)].join('\n'), most),
  };
}

/** The user's words in this many tokens: whole if they fit, else the oldest cut first and each no further than needed. */
function wordsWithin(words: readonly MessagePart[], room: number): readonly MessagePart[] | undefined {
  const cut = [...words];
  let size = partTokens(cut);
  for (const most of [2000, 600, 200, 50]) {
    for (let i = 0; i < cut.length && size > room; i++) {
      const part = cut[i] as MessagePart;
      const less = cutPart(part, most);
      size += partTokens([less]) - partTokens([part]);
      cut[i] = less;
    }
    if (size <= room) return cut;
  }
  return undefined;
}

function cutPart(part: MessagePart, most: number): MessagePart {
  if (part.type === 'file') return fileLeftOut(part);
  if (part.type !== 'text') return part;
  const text = truncateMiddle(part.text, most);
  return text.length < part.text.length ? { ...part, text } : part;
}

/** What stands in the place of a file. */
export const fileLeftOut = ({ name, mediaType }: FilePart): TextPart => ({
  type: 'text',
  text: `[the file ${name ?? mediaType} is left out here]`,
});

function planAt(messages: readonly Message[], from: number, notes: readonly Note[]): Plan {
  const [first, ...left] = messages.slice(0, from) as [Message, ...Message[]];
  const own = ownWords(first);
  const tail = messages.slice(from);
  const shown = new Set(tail.flatMap(notesOf).map((note) => note.key));
  return {
    task: own.length ? own : first.parts,
    words: left.flatMap(ownWords),
    left,
    notes: notes.filter((note) => !shown.has(note.key)),
    tail,
  };
}

/** The latest note of each key, the newest of them if not all fit. */
function latestNotes(messages: readonly Message[], room: number): readonly Note[] {
  const kept = new Map<string, Note>();
  let size = 0;
  for (const { key, text } of messages.flatMap(notesOf).toReversed()) {
    if (key === compactionKey || kept.has(key)) continue;
    const note = { key, text: truncateMiddle(text, 1000) };
    size += partTokens(renderNotes([note]));
    if (size > room) break;
    kept.set(key, note);
  }
  return [...kept.values()].toReversed();
}

const notesOf = ({ role, parts }: Message): readonly Note[] =>
  role === 'user' ? parts.flatMap((part) => (part.type === 'text' ? (parseNotes(part.text) ?? []) : [])) : [];
