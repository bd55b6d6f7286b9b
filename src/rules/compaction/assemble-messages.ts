// Assembles the messages of a compacted conversation: the task, a replacement for the omitted part, what is carried over from it, the latest turns.
import {
  messageText,
  messageToolCalls,
  estimateTokens,
  prefixTokens,
  truncateMiddle,
  toArray,
  messageTokens,
  renderNotes,
  type ResolvedAgent,
  type TouchedFile,
  type Message,
  type RunState,
} from '../../core/index.ts';
import { compactionNoteKey, type PlanBudget, type CompactionPlan } from './select-kept-messages.ts';

/** Max share of the context window for notes. More notes than this are not rules to keep but a stream of messages. */
const noteShare = 0.1;

/** Max share of the target tokens for the list of files. */
const fileShare = 0.15;

/** A plan budget with the size of the summary and of the request that produces it. */
export type CompactionBudget = PlanBudget & { readonly summaryTokens: number; readonly window: number };

/** Computes how much of this state may be kept. `target` is the share of the context window, or of the used tokens if that is less. */
export function compactionBudget(
  state: RunState,
  { provider }: ResolvedAgent,
  options: { readonly target: number; readonly keepTurns: number; readonly summary: number },
): CompactionBudget {
  const prefix = prefixTokens(state);
  const used = prefix + messageTokens(toArray(state.messages));
  // If the provider counts more tokens than our estimate (code, other scripts), the window is smaller in estimated tokens.
  const ratio = Math.max(1, state.context / used);
  const window = (state.limits?.context ?? (provider.contextWindow ?? Number.POSITIVE_INFINITY) * 0.9) / ratio;
  const base = Math.min(window, used);
  const targetTokens = Math.max(options.target * base - prefix, (options.target / 2) * (base - prefix), 0);
  const maxTokens = Math.max(targetTokens, 0.85 * (base - prefix));
  const summary = Math.floor(Math.min(options.summary, targetTokens * 0.25));
  const files = formatFiles(state.files, targetTokens * fileShare);
  const reservedTokens = summary + estimateTokens(files) + 100;
  return {
    targetTokens,
    maxTokens,
    reservedTokens,
    noteTokens: noteShare * (Number.isFinite(window) ? window : used),
    summaryTokens: summary,
    window: Number.isFinite(window) ? window : used * 0.7,
    keepTurns: options.keepTurns,
  };
}

/** Builds the compacted conversation of a plan. A line that says how many messages were replaced, and the summary if there is one, is the text of the model in place of the omitted part. */
export function assembleMessages(
  state: RunState,
  plan: CompactionPlan,
  targetTokens: number,
  summary?: string,
): readonly Message[] {
  if (plan.omitted.length === 0)
    return [{ role: 'user', parts: [...plan.task, ...renderNotes(plan.notes, state.nonce)] }, ...plan.tail];
  const note = { key: compactionNoteKey, text: formatCarriedOver(state, plan, targetTokens) };
  const bridge: readonly Message[] = plan.tail[0]?.role === 'user' ? [textMessage('assistant', omittedText)] : [];
  return [
    { role: 'user', parts: plan.task },
    textMessage(
      'assistant',
      [formatStandIn(plan.omitted, summary !== undefined), ...(summary === undefined ? [] : [summary])].join('\n'),
    ),
    { role: 'user', parts: [...plan.userParts, ...renderNotes([...plan.notes, note], state.nonce)] },
    ...bridge,
    ...plan.tail,
  ];
}

const standInPattern = /^\[Previous conversation: (\d+) messages (?:summarized|omitted)\]/;

/** Formats the line in place of the omitted messages. Such a line of an earlier compaction counts as the messages it replaced, and what was added after it does not count. */
function formatStandIn(omitted: readonly Message[], isSummarized: boolean): string {
  const replaced = omitted.map((message) =>
    message.role === 'assistant' ? standInPattern.exec(messageText(message))?.[1] : undefined,
  );
  const count = omitted.reduce((sum, message, i) => {
    const isAdded = replaced[i - 1] !== undefined || messageText(message) === omittedText;
    return sum + (isAdded ? 0 : Math.min(Number(replaced[i] ?? 1), 1e9));
  }, 0);
  return `[Previous conversation: ${count} messages ${isSummarized ? 'summarized' : 'omitted'}]`;
}

/** Replaces an omitted answer. */
const omittedText = '(Earlier work is omitted here.)';

const textMessage = (role: Message['role'], text: string): Message => ({ role, parts: [{ type: 'text', text }] });

function formatCarriedOver(
  { files, tools: toolSpecs }: RunState,
  { omitted, userParts }: CompactionPlan,
  targetTokens: number,
): string {
  // A name that no tool has was invented by the model, and this text is part of a user message.
  const names = new Set(toolSpecs.map((tool) => tool.name));
  const tools = omitted
    .flatMap((message) => messageToolCalls(message).map((call) => call.tool))
    .filter((tool) => names.has(tool));
  const counts = [...new Set(tools)].map((tool) => `${tool} ${tools.filter((each) => each === tool).length} times`);
  return [
    `To make the conversation shorter, ${omitted.length} messages between the first request and what follows were omitted.`,
    ...(userParts.length ? ['What the user wrote in them is above.'] : []),
    ...(counts.length ? [`Tools used there: ${counts.join(', ')}.`] : []),
    'Other details from them may have to be looked up again.',
    ...(files.length
      ? [`Files worked on so far, the latest last:\n${formatFiles(files, targetTokens * fileShare)}`]
      : []),
  ].join(' ');
}

/** Formats the files, one per line; changed files first if not all fit. One file is always named. */
function formatFiles(files: readonly TouchedFile[], maxTokens: number): string {
  let tokens = 0;
  const order = [
    ...files.filter((file) => file.changed).toReversed(),
    ...files.filter((file) => !file.changed).toReversed(),
  ];
  const fitting = new Set(
    order.filter((file, i) => (tokens += estimateTokens(formatFile(file)) + 1) <= maxTokens || i === 0),
  );
  const lines = files.filter((file) => fitting.has(file)).map(formatFile);
  const more = files.length - lines.length;
  return [...(more ? [`- ${more} more`] : []), ...lines].join('\n');
}

const formatFile = ({ path, tool, changed, content }: TouchedFile): string =>
  `- ${truncateMiddle(JSON.stringify(path), 300)} (${changed ? 'changed' : 'not changed'}, last by ${tool}${content === undefined ? '' : `, content ${content.slice(0, 12)}`})`;
