// What is known of an agent that another one started: its task and its bounds, as its own log tells them, and how it stands in words.
import {
  messageToolCalls,
  isObject,
  messageText,
  toArray,
  escapeInvisibleLine,
  type Event,
  type Json,
  type Message,
  type RunState,
} from '../../core/index.ts';
import { firstPendingApproval, subagentReport } from './run-to-end.ts';

/** What an agent is started with. */
export type SubagentSpec = {
  readonly task: string;
  /** Who it is to be, added to its standing text. */
  readonly role?: string;
  /** The parent's tools that it keeps; all of them unless given. */
  readonly tools?: readonly string[];
  readonly model?: string;
  readonly max_turns?: number;
  readonly background?: boolean;
};

/** A wish, and whose it was: the parent's session and the call that made it. */
export type SubagentMetadata = SubagentSpec & { readonly parent: string; readonly key: string };

/** The remark in an agent's log that marks it as somebody's. */
export const SUBAGENT_ANNOTATION = 'agent';

/** What a remark says of an agent; nothing if it is another one. */
export function parseSubagentMetadata(event: Event | undefined): SubagentMetadata | undefined {
  if (event?.type !== 'annotation-added' || event.key !== SUBAGENT_ANNOTATION || !isObject(event.value))
    return undefined;
  const { task, parent, key } = event.value;
  const ours = [task, parent, key].every((each) => typeof each === 'string');
  return ours ? (event.value as SubagentMetadata) : undefined;
}

/** An agent, at work or not. */
export type SubagentInfo = {
  readonly id: string;
  readonly metadata: SubagentMetadata;
  readonly state: RunState;
  /** Whether this process runs it now; `elsewhere`: another one does. */
  readonly running: boolean | 'elsewhere';
};

/** How an agent stands, in a few words. */
export function subagentStatus({ state, running }: Pick<SubagentInfo, 'state' | 'running'>): string {
  if (running === 'elsewhere') return 'at work in another process';
  if (firstPendingApproval(state)) return 'waiting for a person’s answer';
  if (running) return 'at work';
  if (state.run !== undefined) return 'interrupted; it has not ended';
  const reason = state.ended?.reason;
  if (reason === undefined) return 'not begun';
  return reason === 'answered' || reason === 'task-complete' ? 'done' : `stopped: ${reason}`;
}

const displayLimits = { task: 80, line: 160, lines: 20 };

/** A text on one line that is not too long. */
export function truncateToLine(text: string, letters: number = displayLimits.line): string {
  const line = escapeInvisibleLine(text.trim());
  return line.length > letters ? `${line.slice(0, letters - 1)}…` : line;
}

/** An agent on one line. */
export function formatSubagentLine(known: SubagentInfo): string {
  const { turns, calls } = known.state.spent;
  return `${known.id}: ${subagentStatus(known)}, ${turns} turns, ${calls} calls. Task: ${truncateToLine(known.metadata.task, displayLimits.task)}`;
}

/** An agent in full: what it was told, what it used, the latest it did, and its report. */
export function formatSubagentDetails(known: SubagentInfo): string {
  const { metadata, state } = known;
  const { turns, calls, input, output, usd, turnsWithoutPrice } = state.spent;
  const acts = formatActivity(toArray(state.messages));
  const report = known.running || state.run !== undefined ? undefined : subagentReport(state).text;
  return [
    `${known.id}: ${subagentStatus(known)}`,
    `Task: ${metadata.task}`,
    ...(metadata.role === undefined ? [] : [`Role: ${metadata.role}`]),
    ...(metadata.tools === undefined ? [] : [`Tools: ${metadata.tools.join(', ') || 'none'}`]),
    `Model: ${state.model}`,
    `Used: ${turns} turns, ${calls} calls, ${input + output} tokens${turnsWithoutPrice ? '' : `, $${usd.toFixed(4)}`}`,
    ...(acts.length > displayLimits.lines
      ? [`(${acts.length - displayLimits.lines} earlier lines are left out.)`]
      : []),
    ...acts.slice(-displayLimits.lines),
    ...(report === undefined ? [] : [`Report:\n${report}`]),
  ].join('\n');
}

/** What a conversation's model did, a line each. */
function formatActivity(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'user') return [`< ${truncateToLine(messageText(message))}`];
    if (message.role !== 'assistant') return [];
    const said = messageText(message);
    return [
      ...(said.trim() ? [`> ${truncateToLine(said)}`] : []),
      ...messageToolCalls(message).map((call) => `- ${formatToolCall(call)}`),
    ];
  });
}

const formatToolCall = ({ tool, input }: { readonly tool: string; readonly input: Json }): string =>
  truncateToLine(`${tool} ${JSON.stringify(input)}`);

/** What an event of an agent is to an onlooker, on one line; nothing if it is of no interest. */
export function formatSubagentEvent(event: Event, state: RunState): string | undefined {
  if (event.type === 'turn-failed') return `failed: ${truncateToLine(event.error.message)}`;
  if (event.type === 'approval-requested') return `asks: ${truncateToLine(event.question)}`;
  if (event.type === 'run-ended') return `ended: ${event.reason}`;
  if (event.type === 'turn-ended') {
    const said = messageText(event.message);
    return said.trim() ? `says: ${truncateToLine(said)}` : undefined;
  }
  if (event.type === 'tool-started') {
    const call = state.calls.find(({ id }) => id === event.call);
    return call && formatToolCall(call);
  }
  if (event.type !== 'tool-ended' || event.outcome === 'ok') return undefined;
  return `${event.outcome}: ${truncateToLine(event.text)}`;
}
