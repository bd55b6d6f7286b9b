// What is known of an agent that another one started: its task and its bounds, as its own log tells them, and how it stands in words.
import {
  callsOf,
  isObject,
  textOf,
  toArray,
  visibleLine,
  type Event,
  type Json,
  type Message,
  type RunState,
} from '../../core/index.ts';
import { openQuestion, reportOf } from './child-run.ts';

/** What an agent is started with. */
export type AgentWish = {
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
export type About = AgentWish & { readonly parent: string; readonly key: string };

/** The remark in an agent's log that marks it as somebody's. */
export const AGENT_REMARK = 'agent';

/** What a remark says of an agent; nothing if it is another one. */
export function aboutIn(event: Event | undefined): About | undefined {
  if (event?.type !== 'annotation-added' || event.key !== AGENT_REMARK || !isObject(event.value)) return undefined;
  const { task, parent, key } = event.value;
  const ours = [task, parent, key].every((each) => typeof each === 'string');
  return ours ? (event.value as About) : undefined;
}

/** An agent, at work or not. */
export type Known = {
  readonly id: string;
  readonly about: About;
  readonly state: RunState;
  /** Whether this process runs it now; `elsewhere`: another one does. */
  readonly live: boolean | 'elsewhere';
};

/** How an agent stands, in a few words. */
export function standing({ state, live }: Pick<Known, 'state' | 'live'>): string {
  if (live === 'elsewhere') return 'at work in another process';
  if (openQuestion(state)) return 'waiting for a person’s answer';
  if (live) return 'at work';
  if (state.run !== undefined) return 'interrupted; it has not ended';
  const reason = state.ended?.reason;
  if (reason === undefined) return 'not begun';
  return reason === 'answered' || reason === 'task-complete' ? 'done' : `stopped: ${reason}`;
}

const most = { task: 80, line: 160, lines: 20 };

/** A text on one line that is not too long. */
export function short(text: string, letters: number = most.line): string {
  const line = visibleLine(text.trim());
  return line.length > letters ? `${line.slice(0, letters - 1)}…` : line;
}

/** An agent on one line. */
export function listed(known: Known): string {
  const { turns, calls } = known.state.spent;
  return `${known.id}: ${standing(known)}, ${turns} turns, ${calls} calls. Task: ${short(known.about.task, most.task)}`;
}

/** An agent in full: what it was told, what it used, the latest it did, and its report. */
export function inspected(known: Known): string {
  const { about, state } = known;
  const { turns, calls, input, output, usd, turnsWithoutPrice: unpriced } = state.spent;
  const acts = actsIn(toArray(state.messages));
  const report = known.live || state.run !== undefined ? undefined : reportOf(state).text;
  return [
    `${known.id}: ${standing(known)}`,
    `Task: ${about.task}`,
    ...(about.role === undefined ? [] : [`Role: ${about.role}`]),
    ...(about.tools === undefined ? [] : [`Tools: ${about.tools.join(', ') || 'none'}`]),
    `Model: ${state.model}`,
    `Used: ${turns} turns, ${calls} calls, ${input + output} tokens${unpriced ? '' : `, $${usd.toFixed(4)}`}`,
    ...(acts.length > most.lines ? [`(${acts.length - most.lines} earlier lines are left out.)`] : []),
    ...acts.slice(-most.lines),
    ...(report === undefined ? [] : [`Report:\n${report}`]),
  ].join('\n');
}

/** What a conversation's model did, a line each. */
function actsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'user') return [`< ${short(textOf(message))}`];
    if (message.role !== 'assistant') return [];
    const said = textOf(message);
    return [...(said.trim() ? [`> ${short(said)}`] : []), ...callsOf(message).map((call) => `- ${act(call)}`)];
  });
}

const act = ({ tool, input }: { readonly tool: string; readonly input: Json }): string =>
  short(`${tool} ${JSON.stringify(input)}`);

/** What an event of an agent is to an onlooker, on one line; nothing if it is of no interest. */
export function told(event: Event, state: RunState): string | undefined {
  if (event.type === 'turn-failed') return `failed: ${short(event.error.message)}`;
  if (event.type === 'approval-requested') return `asks: ${short(event.question)}`;
  if (event.type === 'run-ended') return `ended: ${event.reason}`;
  if (event.type === 'turn-ended') {
    const said = textOf(event.message);
    return said.trim() ? `says: ${short(said)}` : undefined;
  }
  if (event.type === 'tool-started') {
    const call = state.calls.find(({ id }) => id === event.call);
    return call && act(call);
  }
  if (event.type !== 'tool-ended' || event.outcome === 'ok') return undefined;
  return `${event.outcome}: ${short(event.text)}`;
}
