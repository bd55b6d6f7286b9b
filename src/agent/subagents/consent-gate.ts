// The gate before sub-agents: asks the user above a number or an estimated cost in every permission mode, and denies if no user is present.
import {
  approvalQuestion,
  isObject,
  toJson,
  type Gate,
  type Json,
  type RunState,
  type SubagentCaps,
  type Tool,
} from '../../core/index.ts';
import { estimateSubagentUsd, formatUsd, sumSubagentUse, defaultSubagentTurns } from './caps.ts';
import { subagentId } from './metadata.ts';
import type { SubagentInfo } from './metadata.ts';

/** The caps, tools and sources that the gate decides by. */
export type SubagentConsentOptions = {
  readonly caps: SubagentCaps;
  /** The tool that starts sub-agents. */
  readonly tool: Tool;
  /** The tool that sends messages to sub-agents, with which one that is done runs again. */
  readonly messageTool: Tool;
  /** Whether no user can be asked. */
  readonly isUnattended: boolean;
  /** The sub-agents of a session. */
  readonly list: (session: string) => Promise<readonly SubagentInfo[]>;
  /** The estimated cost of one sub-agent in US dollars, from the input of the call that starts it. */
  readonly estimateUsd: (input: Json, state: RunState) => number | Promise<number>;
};

/** Creates the gate. What was approved below a threshold counts up to the next one, so that the user is asked seldom. */
export function subagentConsentGate(options: SubagentConsentOptions): Gate {
  const { caps, tool, messageTool, isUnattended, list } = options;
  return async (call, state) => {
    const isStart = call.tool === tool.name && !isReaderCall(call.input);
    const receiver = call.tool === messageTool.name ? getReceiver(call.input) : undefined;
    if (!isStart && receiver === undefined) return { type: 'allow' };
    const all = await list(state.session);
    // After a crash the same call continues the agent that it started.
    if (call.key !== undefined && all.some(({ id }) => id === subagentId(call.key as string))) return { type: 'allow' };
    const resumed = all.find(({ id, running }) => id === receiver && running === false);
    if (!isStart && !resumed) return { type: 'allow' };
    const estimate = await options.estimateUsd(resumed ? toJson(resumed.metadata) : call.input, state);
    const expected = await estimateAll(all, options, state);
    const reason = (isStart ? aboveNumber(caps, all.length) : undefined) ?? aboveMoney(caps, expected, estimate);
    if (reason === undefined) return { type: 'allow' };
    const by = { kind: 'rule', name: 'agents' } as const;
    if (isUnattended)
      return {
        type: 'deny',
        reason: `${reason} More need the consent of the user, and no user is present. The settings agents.askAfter and agents.askUsd change that.`,
        by,
      };
    return {
      type: 'ask',
      question: `${approvalQuestion(isStart ? tool : messageTool, call.input)}\n${reason} ${isStart ? 'Start another one?' : 'Let it run again?'}`,
      by,
    };
  };
}

/** A reader of the quarantine has no tools and one turn; it is no agent. */
const isReaderCall = (input: Json): boolean => isObject(input) && input['read'] !== undefined;

/** The sub-agent that a call sends a message to. */
const getReceiver = (input: Json): string | undefined =>
  isObject(input) && input['action'] === 'message' && typeof input['agent'] === 'string' ? input['agent'] : undefined;

/** What the sub-agents have cost, with the estimate for those that run: several that start at once are one amount. */
async function estimateAll(
  all: readonly SubagentInfo[],
  { estimateUsd }: SubagentConsentOptions,
  state: RunState,
): Promise<number> {
  let rest = 0;
  for (const { metadata, running, state: own } of all)
    if (running !== false) rest += Math.max(0, (await estimateUsd(toJson(metadata), state)) - own.spent.usd);
  return sumSubagentUse(all).usd + rest;
}

function aboveNumber({ askAfter, agents }: SubagentCaps, started: number): string | undefined {
  if (askAfter === 0 || started === 0 || started % askAfter !== 0) return undefined;
  return `This session has started ${started} agents of at most ${agents}.`;
}

function aboveMoney({ askUsd, usd: max }: SubagentCaps, used: number, estimate: number): string | undefined {
  if (askUsd === 0) return undefined;
  const passed = Math.floor((used + estimate) / askUsd);
  if (passed === Math.floor(used / askUsd)) return undefined;
  return `With this agent the agents of this session may cost ${formatUsd(passed * askUsd)} or more, of at most ${formatUsd(max)}.`;
}

/** The turns that a call of spawn_agent may use. */
export function requestedTurns(input: Json, limit?: number): number {
  const asked = isObject(input) ? input['max_turns'] : undefined;
  const turns = Math.min(typeof asked === 'number' ? asked : Infinity, limit ?? Infinity);
  return Number.isFinite(turns) ? turns : defaultSubagentTurns;
}

/** An estimate from the price of the model of the parent. */
export const estimateByPrice = (
  price: Parameters<typeof estimateSubagentUsd>[0],
  input: Json,
  limits: { readonly turns?: number; readonly usd?: number } = {},
): number => estimateSubagentUsd(price, requestedTurns(input, limits.turns), limits.usd);
