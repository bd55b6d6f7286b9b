// Plans a compaction by structure alone: keeps the task, the user's messages and the latest turns, and never a call without its result.
import {
  continuedText,
  continuePrompt,
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

/** Texts of user messages that the program added. */
const addedTexts: ReadonlySet<string> = new Set([continuePrompt, continuedText]);

/** Returns what the user wrote in a message, without the notes in it. */
export const userParts = ({ role, parts }: Message): readonly MessagePart[] =>
  role === 'user'
    ? parts.filter((part) => part.type !== 'text' || !(addedTexts.has(part.text) || parseNotes(part.text)))
    : [];

/** Plans a compaction that fits the budget; undefined if that is impossible without losing what must stay. */
export function planCompaction(messages: readonly Message[], budget: PlanBudget): CompactionPlan | undefined {
  if (messages[0]?.role !== 'user' || messages.length < 2) return undefined;
  const notes = latestNotes(messages, budget.noteTokens);
  const reserve = budget.reservedTokens + partTokens(renderNotes(notes));
  const budgetWithNotes = { ...budget, reservedTokens: reserve };
  const tailStart = findVerbatimTail(messages, budgetWithNotes);
  if (tailStart !== undefined) return createPlanAt(messages, tailStart, notes);
  // One result may use a quarter of the budget, so that the turns before it still fit.
  const truncated = messages.map((message) => truncateResults(message, budget.targetTokens));
  const truncatedTailStart = findVerbatimTail(truncated, budgetWithNotes);
  if (truncatedTailStart !== undefined)
    return { ...createPlanAt(messages, truncatedTailStart, notes), tail: truncated.slice(truncatedTailStart) };
  return (
    truncateLastTurn(messages, notes, budget.targetTokens - reserve) ??
    truncateLastTurn(messages, notes, budget.maxTokens - reserve)
  );
}

/** Returns where the unchanged tail starts: as many of the latest turns as fit beside everything the user wrote. */
function findVerbatimTail(
  messages: readonly Message[],
  { targetTokens, reservedTokens, keepTurns }: PlanBudget,
): number | undefined {
  let userTokens = messages.reduce((sum, each) => sum + partTokens(userParts(each)), 0);
  let tailStart: number | undefined;
  let tailTokens = 0;
  let turns = 0;
  for (let i = messages.length - 1; i > 1; i--) {
    const message = messages[i] as Message;
    userTokens -= partTokens(userParts(message));
    tailTokens += partTokens(message.parts);
    if (message.role === 'assistant') turns++;
    if (turns > keepTurns || userTokens + tailTokens + reservedTokens > targetTokens) break;
    if (message.role !== 'tool' && turns > 0) tailStart = i;
  }
  return tailStart;
}

/** Keeps the last turn with truncated results, or no turn if even that is too large. The user's messages are truncated last. */
function truncateLastTurn(
  messages: readonly Message[],
  notes: readonly Note[],
  maxTokens: number,
): CompactionPlan | undefined {
  const lastTurnStart = messages.findLastIndex((message) => message.role === 'assistant');
  const emptyTailStart = messages.at(-1)?.role === 'user' ? messages.length - 1 : messages.length;
  for (const tailStart of lastTurnStart > 0 ? [lastTurnStart, emptyTailStart] : [emptyTailStart]) {
    if (tailStart < 1) continue;
    const plan = createPlanAt(messages, tailStart, notes);
    const remainingTokens = maxTokens - partTokens(plan.task);
    const tail = fitResults(plan.tail, remainingTokens - partTokens(plan.userParts));
    const fittedUserParts = fitUserParts(plan.userParts, remainingTokens - messageTokens(tail));
    if (fittedUserParts) return { ...plan, userParts: fittedUserParts, tail };
  }
  return undefined;
}

/** Fits messages into a number of tokens by truncating results. Each result keeps at least `minResultChars`. */
function fitResults(messages: readonly Message[], maxTokens: number): readonly Message[] {
  const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  const resultTokens =
    maxTokens - partTokens(messages.flatMap(({ parts }) => parts.filter((part) => part.type !== 'tool-result')));
  // Minus the marker that `truncateMiddle` adds.
  return messages.map((message) => truncateResults(message, Math.floor((resultTokens / results.length) * 4) - 80));
}

/** A truncated result must still show what it is. */
const minResultChars = 500;

const truncateResults = ({ role, parts }: Message, maxChars: number): Message => ({
  role,
  parts: parts.map((part) =>
    part.type === 'tool-result' ? truncateResult(part, Math.max(minResultChars, maxChars)) : part,
  ),
});

/** Images are removed first, because they can be read again. */
function truncateResult({ files = [], ...part }: ToolResultPart, maxChars: number): ToolResultPart {
  return {
    ...part,
    text: truncateMiddle([part.text, ...files.map((file) => omittedFileText(file).text)].join('\n'), maxChars),
  };
}

/** Fits the user's messages into a number of tokens: unchanged if they fit, otherwise the oldest are truncated first. */
function fitUserParts(parts: readonly MessagePart[], maxTokens: number): readonly MessagePart[] | undefined {
  const fitted = [...parts];
  let tokens = partTokens(fitted);
  for (const maxChars of [2000, 600, 200, 50]) {
    for (let i = 0; i < fitted.length && tokens > maxTokens; i++) {
      const part = fitted[i] as MessagePart;
      const shorter = truncatePart(part, maxChars);
      tokens += partTokens([shorter]) - partTokens([part]);
      fitted[i] = shorter;
    }
    if (tokens <= maxTokens) return fitted;
  }
  return undefined;
}

function truncatePart(part: MessagePart, maxChars: number): MessagePart {
  if (part.type === 'file') return omittedFileText(part);
  if (part.type !== 'text') return part;
  const text = truncateMiddle(part.text, maxChars);
  return text.length < part.text.length ? { ...part, text } : part;
}

/** Returns the text that replaces a file. */
export const omittedFileText = ({ name, mediaType }: FilePart): TextPart => ({
  type: 'text',
  text: `[the file ${name ?? mediaType} is omitted here]`,
});

function createPlanAt(messages: readonly Message[], tailStart: number, notes: readonly Note[]): CompactionPlan {
  const [first, ...omitted] = messages.slice(0, tailStart) as [Message, ...Message[]];
  const firstUserParts = userParts(first);
  const tail = messages.slice(tailStart);
  const keysInTail = new Set(tail.flatMap(notesInMessage).map((note) => note.key));
  return {
    task: firstUserParts.length ? firstUserParts : first.parts,
    userParts: omitted.flatMap(userParts),
    omitted,
    notes: notes.filter((note) => !keysInTail.has(note.key)),
    tail,
  };
}

/** Returns the latest note of each key; the newest if not all fit. */
function latestNotes(messages: readonly Message[], maxTokens: number): readonly Note[] {
  const kept = new Map<string, Note>();
  let tokens = 0;
  for (const { key, text } of messages.flatMap(notesInMessage).toReversed()) {
    if (key === compactionNoteKey || kept.has(key)) continue;
    const note = { key, text: truncateMiddle(text, 1000) };
    tokens += partTokens(renderNotes([note]));
    if (tokens > maxTokens) break;
    kept.set(key, note);
  }
  return [...kept.values()].toReversed();
}

const notesInMessage = ({ role, parts }: Message): readonly Note[] =>
  role === 'user' ? parts.flatMap((part) => (part.type === 'text' ? (parseNotes(part.text) ?? []) : [])) : [];
