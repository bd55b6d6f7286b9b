// Plans a compaction by structure alone: keeps the task, the user's messages and the latest turns, and never a call without its result.
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

/** How much may be kept, in estimated tokens. */
export type PlanBudget = {
  /** The target size of the new history, and its max size. */
  readonly targetTokens: number;
  readonly maxTokens: number;
  /** Tokens of the target reserved for the replacement of the omitted part. */
  readonly reservedTokens: number;
  /** Max tokens for the latest notes. */
  readonly noteTokens: number;
  /** Max number of latest turns that stay unchanged. */
  readonly keepTurns: number;
};

/** A plan: what stays unchanged, and what is omitted. */
export type CompactionPlan = {
  /** The first request of the user. */
  readonly task: readonly MessagePart[];
  /** What the user wrote in the omitted part. */
  readonly userParts: readonly MessagePart[];
  readonly omitted: readonly Message[];
  /** The latest note of each key in the omitted part. */
  readonly notes: readonly Note[];
  readonly tail: readonly Message[];
};

/** The key of the note that a compaction adds. The next compaction replaces it. */
export const compactionNoteKey = 'compaction';

/** The prompt that the loop sends if there is no user input. */
const continuePrompt = 'Go on.';

/** Returns what the user wrote in a message, without the notes in it. */
export const userParts = ({ role, parts }: Message): readonly MessagePart[] =>
  role === 'user'
    ? parts.filter((part) => part.type !== 'text' || !(part.text === continuePrompt || parseNotes(part.text)))
    : [];

/** Plans a compaction that fits the budget; undefined if that is impossible without losing what must stay. */
export function planCompaction(messages: readonly Message[], budget: PlanBudget): CompactionPlan | undefined {
  if (messages[0]?.role !== 'user' || messages.length < 2) return undefined;
  const notes = latestNotes(messages, budget.noteTokens);
  const reserve = budget.reservedTokens + partTokens(renderNotes(notes));
  const all = { ...budget, reservedTokens: reserve };
  const from = findVerbatimTail(messages, all);
  if (from !== undefined) return createPlanAt(messages, from, notes);
  // One result may use a quarter of the budget, so that the turns before it still fit.
  const cut = messages.map((message) => truncateResults(message, budget.targetTokens));
  const at = findVerbatimTail(cut, all);
  if (at !== undefined) return { ...createPlanAt(messages, at, notes), tail: cut.slice(at) };
  return (
    squeezeLastTurn(messages, notes, budget.targetTokens - reserve) ??
    squeezeLastTurn(messages, notes, budget.maxTokens - reserve)
  );
}

/** Returns where the unchanged tail starts: as many of the latest turns as fit beside everything the user wrote. */
function findVerbatimTail(
  messages: readonly Message[],
  { targetTokens, reservedTokens, keepTurns }: PlanBudget,
): number | undefined {
  let said = messages.reduce((sum, each) => sum + partTokens(userParts(each)), 0);
  let found: number | undefined;
  let size = 0;
  let turns = 0;
  for (let i = messages.length - 1; i > 1; i--) {
    const message = messages[i] as Message;
    said -= partTokens(userParts(message));
    size += partTokens(message.parts);
    if (message.role === 'assistant') turns++;
    if (turns > keepTurns || said + size + reservedTokens > targetTokens) break;
    if (message.role !== 'tool' && turns > 0) found = i;
  }
  return found;
}

/** Keeps the last turn with truncated results, or no turn if even that is too large. The user's messages are truncated last. */
function squeezeLastTurn(
  messages: readonly Message[],
  notes: readonly Note[],
  room: number,
): CompactionPlan | undefined {
  const latest = messages.findLastIndex((message) => message.role === 'assistant');
  const none = messages.at(-1)?.role === 'user' ? messages.length - 1 : messages.length;
  for (const from of latest > 0 ? [latest, none] : [none]) {
    if (from < 1) continue;
    const plan = createPlanAt(messages, from, notes);
    const left = room - partTokens(plan.task);
    const tail = fitResults(plan.tail, left - partTokens(plan.userParts));
    const words = fitUserParts(plan.userParts, left - messageTokens(tail));
    if (words) return { ...plan, userParts: words, tail };
  }
  return undefined;
}

/** Fits messages into a number of tokens by truncating results; undefined if that is not enough. */
function fitResults(messages: readonly Message[], room: number): readonly Message[] {
  const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  const rest = room - partTokens(messages.flatMap(({ parts }) => parts.filter((part) => part.type !== 'tool-result')));
  // Minus the marker that `truncateMiddle` adds.
  return messages.map((message) => truncateResults(message, Math.floor((rest / results.length) * 4) - 80));
}

/** A truncated result must still show what it is. */
const minResultChars = 500;

const truncateResults = ({ role, parts }: Message, most: number): Message => ({
  role,
  parts: parts.map((part) =>
    part.type === 'tool-result' ? truncateResult(part, Math.max(minResultChars, most)) : part,
  ),
});

/** Images are removed first, because they can be read again. */
function truncateResult({ files = [], ...part }: ToolResultPart, most: number): ToolResultPart {
  return {
    ...part,
    text: truncateMiddle([part.text, ...files.map((file) => omittedFileText(file).text)].join('\n'), most),
  };
}

/** Fits the user's messages into a number of tokens: unchanged if they fit, otherwise the oldest are truncated first. */
function fitUserParts(words: readonly MessagePart[], room: number): readonly MessagePart[] | undefined {
  const cut = [...words];
  let size = partTokens(cut);
  for (const most of [2000, 600, 200, 50]) {
    for (let i = 0; i < cut.length && size > room; i++) {
      const part = cut[i] as MessagePart;
      const less = truncatePart(part, most);
      size += partTokens([less]) - partTokens([part]);
      cut[i] = less;
    }
    if (size <= room) return cut;
  }
  return undefined;
}

function truncatePart(part: MessagePart, most: number): MessagePart {
  if (part.type === 'file') return omittedFileText(part);
  if (part.type !== 'text') return part;
  const text = truncateMiddle(part.text, most);
  return text.length < part.text.length ? { ...part, text } : part;
}

/** Returns the text that replaces a file. */
export const omittedFileText = ({ name, mediaType }: FilePart): TextPart => ({
  type: 'text',
  text: `[the file ${name ?? mediaType} is omitted here]`,
});

function createPlanAt(messages: readonly Message[], from: number, notes: readonly Note[]): CompactionPlan {
  const [first, ...left] = messages.slice(0, from) as [Message, ...Message[]];
  const own = userParts(first);
  const tail = messages.slice(from);
  const shown = new Set(tail.flatMap(notesInMessage).map((note) => note.key));
  return {
    task: own.length ? own : first.parts,
    userParts: left.flatMap(userParts),
    omitted: left,
    notes: notes.filter((note) => !shown.has(note.key)),
    tail,
  };
}

/** Returns the latest note of each key; the newest if not all fit. */
function latestNotes(messages: readonly Message[], room: number): readonly Note[] {
  const kept = new Map<string, Note>();
  let size = 0;
  for (const { key, text } of messages.flatMap(notesInMessage).toReversed()) {
    if (key === compactionNoteKey || kept.has(key)) continue;
    const note = { key, text: truncateMiddle(text, 1000) };
    size += partTokens(renderNotes([note]));
    if (size > room) break;
    kept.set(key, note);
  }
  return [...kept.values()].toReversed();
}

const notesInMessage = ({ role, parts }: Message): readonly Note[] =>
  role === 'user' ? parts.flatMap((part) => (part.type === 'text' ? (parseNotes(part.text) ?? []) : [])) : [];
