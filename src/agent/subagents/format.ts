// Text about sub-agents: their status, activity and reports.
import {
  escapeInvisibleLine,
  getAnswerText,
  messageText,
  messageToolCalls,
  pendingApprovals,
  toArray,
  type Event,
  type Json,
  type Message,
  type RunState,
} from '../../core/index.ts';
import type { SubagentInfo } from './metadata.ts';

const displayLimits = { task: 80, line: 160, lines: 20 };

/** A text on one line of at most this many characters. */
export function truncateToLine(text: string, maxChars: number = displayLimits.line): string {
  const line = escapeInvisibleLine(text.trim());
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line;
}

/** The status of a sub-agent in a few words. */
export function subagentStatus({ state, running }: Pick<SubagentInfo, 'state' | 'running'>): string {
  if (running === 'elsewhere') return 'running in another process';
  if (pendingApprovals(state).length) return 'waiting for the user’s approval';
  if (running) return 'running';
  if (state.run !== undefined) return 'interrupted; it has not ended';
  const reason = state.ended?.reason;
  if (reason === undefined) return 'not started';
  return reason === 'answered' || reason === 'task-complete' ? 'done' : `stopped: ${reason}`;
}

/** The id of a sub-agent, with the name of its file. */
export const formatSubagentName = ({ id, metadata }: Pick<SubagentInfo, 'id' | 'metadata'>): string =>
  metadata.agent === undefined ? id : `${id} (${metadata.agent})`;

/** A sub-agent on one line. */
export function formatSubagentLine(subagent: SubagentInfo): string {
  const { turns, calls } = subagent.state.spent;
  const task = truncateToLine(subagent.metadata.task, displayLimits.task);
  return `${formatSubagentName(subagent)}: ${subagentStatus(subagent)}, ${turns} turns, ${calls} calls. Task: ${task}`;
}

/** A sub-agent in full: its task, its usage, its latest activity and its report. */
export function formatSubagentDetails(subagent: SubagentInfo): string {
  const { metadata, state } = subagent;
  const { turns, calls, input, output, usd, turnsWithoutPrice } = state.spent;
  const activity = formatActivity(toArray(state.messages));
  const report = subagent.running || state.run !== undefined ? undefined : subagentReport(state).text;
  return [
    `${formatSubagentName(subagent)}: ${subagentStatus(subagent)}`,
    `Task: ${metadata.task}`,
    ...(metadata.role === undefined ? [] : [`Role: ${metadata.role}`]),
    ...(metadata.tools === undefined ? [] : [`Tools: ${metadata.tools.join(', ') || 'none'}`]),
    `Model: ${state.model}`,
    `Used: ${turns} turns, ${calls} calls, ${input + output} tokens${turnsWithoutPrice ? '' : `, $${usd.toFixed(4)}`}`,
    ...(activity.length > displayLimits.lines
      ? [`(${activity.length - displayLimits.lines} earlier lines are omitted.)`]
      : []),
    ...activity.slice(-displayLimits.lines),
    ...(report === undefined ? [] : [`Report:\n${report}`]),
  ].join('\n');
}

/** The messages and tool calls of a conversation, one line each. */
function formatActivity(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'user') return [`< ${truncateToLine(messageText(message))}`];
    if (message.role !== 'assistant') return [];
    const text = messageText(message);
    return [
      ...(text.trim() ? [`> ${truncateToLine(text)}`] : []),
      ...messageToolCalls(message).map((call) => `- ${formatToolCall(call)}`),
    ];
  });
}

const formatToolCall = ({ tool, input }: { readonly tool: string; readonly input: Json }): string =>
  truncateToLine(`${tool} ${JSON.stringify(input)}`);

/** One line of progress about an event of a sub-agent; undefined for events that are not shown. */
export function formatSubagentEvent(event: Event, state: RunState): string | undefined {
  if (event.type === 'turn-failed') return `failed: ${truncateToLine(event.error.message)}`;
  if (event.type === 'approval-requested') return `asks: ${truncateToLine(event.question)}`;
  if (event.type === 'run-ended') return `ended: ${event.reason}`;
  if (event.type === 'turn-ended') {
    const text = messageText(event.message);
    return text.trim() ? `says: ${truncateToLine(text)}` : undefined;
  }
  if (event.type === 'tool-started') {
    const call = state.calls.find(({ id }) => id === event.call);
    return call && formatToolCall(call);
  }
  if (event.type !== 'tool-ended' || event.outcome === 'ok') return undefined;
  return `${event.outcome}: ${truncateToLine(event.text)}`;
}

/** The result of a sub-agent for its parent. */
export type SubagentReport = { readonly text: string; readonly failed: boolean };

/** The answer of a sub-agent, or why there is none. */
export function subagentReport(state: RunState): SubagentReport {
  const { text: answer } = getAnswerText(state);
  const { reason, detail } = state.ended ?? {};
  if (reason === 'answered' || reason === 'task-complete') return { text: answer, failed: false };
  const questions = pendingApprovals(state).map(({ question }) => question);
  const cause = questions.length
    ? `It needs the user’s approval: ${questions.join('; ')}`
    : `It stopped: ${reason ?? 'interrupted'}. ${detail ?? ''}`;
  return { text: `${cause.trim()}\n${answer}`.trim(), failed: true };
}

/** The report of a sub-agent in this state, under a line with its id and usage. */
export function formatReport(id: string, state: RunState): SubagentReport {
  const { text, failed } = subagentReport(state);
  const { turns, calls } = state.spent;
  return { text: `[${id}: ${failed ? 'not done' : 'done'}, ${turns} turns, ${calls} calls]\n${text}`, failed };
}
