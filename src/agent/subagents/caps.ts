// Caps for the sub-agents of one session: how many, how many at a time, for how much money, and from when on the user is asked.
import type { Price, RunState, SubagentCaps } from '../../core/index.ts';
import type { SubagentInfo } from './metadata.ts';

/** The maximum number of turns of a sub-agent, unless its call or its file says another. */
export const defaultSubagentTurns = 25;

/** What the sub-agents of a session have used. */
export type SubagentUse = {
  readonly started: number;
  readonly running: number;
  readonly usd: number;
  /** Whether the price of a model is not known, so that the cost is higher than `usd`. */
  readonly hasUnknownCost: boolean;
};

/** Sums up what sub-agents have used. */
export function sumSubagentUse(subagents: readonly Pick<SubagentInfo, 'state' | 'running'>[]): SubagentUse {
  const spent = subagents.map(({ state }) => getTotal(state));
  return {
    started: subagents.length,
    running: subagents.filter(({ running }) => running !== false).length,
    usd: spent.reduce((sum, { usd }) => sum + usd, 0),
    hasUnknownCost: spent.some(({ turnsWithoutPrice }) => turnsWithoutPrice > 0),
  };
}

/** What all runs of a session have used. */
const getTotal = ({ total }: RunState): RunState['total'] => total;

/** An upper estimate of the tokens of one turn of a sub-agent. */
const tokensPerTurn = { input: 20_000, output: 1_000 };

/** The estimated cost of a sub-agent in US dollars: its turns with a full history; 0 if the price is not known. */
export const estimateSubagentUsd = (price: Price | undefined, turns: number, limit: number = Infinity): number =>
  price === undefined
    ? 0
    : Math.min(limit, (turns * (tokensPerTurn.input * price.input + tokensPerTurn.output * price.output)) / 1_000_000);

/** Formats an amount of US dollars. */
export const formatUsd = (usd: number): string => `$${usd.toFixed(2)}`;

/** The caps in one sentence, with what is used of them. */
export function formatSubagentCaps(caps: SubagentCaps, use: SubagentUse): string {
  const cost = `${formatUsd(use.usd)}${use.hasUnknownCost ? ' and turns without a known price' : ''}`;
  return `Agents of this session: at most ${caps.agents} (${use.started} started), ${caps.parallel} at a time (${use.running} running), ${formatUsd(caps.usd)} for all (${cost} used). They start no agents.`;
}
