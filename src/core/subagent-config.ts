// A child's authority: never wider than its parent's, and paid for from the parent's purse.
import type { Limits } from './fact.ts';
import type { ResolvedAgent, Tool } from './ports.ts';
import type { RunState } from './state.ts';

/** What a child may be given of its own: fewer tools, more gates, another provider or text. Everything else is the parent's. */
export type SubagentOverrides = Partial<
  Pick<ResolvedAgent, 'system' | 'provider' | 'gates' | 'stops' | 'checks' | 'settings' | 'outputSchema'>
> & {
  /** The names of the parent's tools it keeps; all of them unless given. A name the parent does not have gives nothing. */
  readonly tools?: readonly string[];
};

/** The parent's parts, narrowed: its gates and stops all hold for the child too, and no tool is added. */
export function deriveSubagent(parent: ResolvedAgent, state: RunState, wish: SubagentOverrides): ResolvedAgent {
  const { tools: names, gates = [], stops = [], ...own } = wish;
  // The parent's answer may be held to a schema; a child's report is not that answer.
  const { outputSchema: _, ...inherited } = parent;
  const open = [...parent.tools.values()].filter((tool) => !tool.deferred || state.loaded.includes(tool.name));
  // Nobody outside waits for a child: what is made elsewhere is not for it to call.
  const kept = open.filter(
    (tool) => tool.clientSideQuestion === undefined && (names === undefined || names.includes(tool.name)),
  );
  const shown = kept.map((tool): [string, Tool] => [
    tool.name,
    { ...tool, execute: tool.execute.bind(tool), deferred: false },
  ]);
  return {
    ...inherited,
    checks: [],
    ...own,
    tools: new Map(shown),
    gates: [...parent.gates, ...gates],
    stops: [...parent.stops, ...stops],
    reminders: [],
  };
}

/** What is left of the parent's limits, and less if the child is to have less. */
export function subagentLimits(state: RunState, wish: Partial<Limits> = {}): Partial<Limits> {
  const { limits, spent } = state;
  if (!limits) return wish;
  const left = (limit: number | undefined, used: number, own: number | undefined): number | undefined => {
    const rest = limit === undefined ? undefined : Math.max(0, limit - used);
    return rest === undefined || own === undefined ? (rest ?? own) : Math.min(rest, own);
  };
  const bounds = {
    turns: left(limits.turns, spent.turns, wish.turns),
    tokens: left(limits.tokens, spent.input + spent.output, wish.tokens),
    usd: left(limits.usd, spent.usd, wish.usd),
    ms: left(limits.ms, spent.ms, wish.ms),
    calls: left(limits.calls, spent.calls, wish.calls),
  };
  const set = Object.entries(bounds).filter(([, value]) => value !== undefined);
  return { ...wish, errors: Math.min(limits.errors, wish.errors ?? limits.errors), ...Object.fromEntries(set) };
}
