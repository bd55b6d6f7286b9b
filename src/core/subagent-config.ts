// Derives the configuration of a sub-agent: a subset of the parent's tools and permissions, charged to the parent's budget.
import type { Limits } from './fact.ts';
import type { ResolvedAgent, Tool } from './ports.ts';
import type { RunState } from './state.ts';

/** What can differ in a sub-agent: fewer tools, more gates, another provider or system text. */
export type SubagentOverrides = Partial<
  Pick<ResolvedAgent, 'system' | 'provider' | 'gates' | 'stops' | 'checks' | 'settings' | 'outputSchema'>
> & {
  /** Names of the parent's tools to keep; default all. Unknown names are ignored. */
  readonly tools?: readonly string[];
};

/** A copy of a tool with changes. A tool may be a class instance, whose methods a spread does not copy: losing `needsApproval` or `validate` would let calls through. */
export function copyTool(tool: Tool, changes: Partial<Tool>): Tool {
  return {
    ...tool,
    execute: (input, context) => tool.execute(input, context),
    ...(tool.validate ? { validate: (input) => tool.validate?.(input) } : {}),
    ...(tool.needsApproval ? { needsApproval: (input, state) => tool.needsApproval?.(input, state) ?? true } : {}),
    ...(tool.checkOutcome ? { checkOutcome: (input, context) => tool.checkOutcome?.(input, context) } : {}),
    ...changes,
  };
}

/** Derives a sub-agent: all gates and stop conditions of the parent apply, and no tool is added. */
export function deriveSubagent(parent: ResolvedAgent, state: RunState, overrides: SubagentOverrides): ResolvedAgent {
  const { tools: names, gates = [], stops = [], ...own } = overrides;
  // The output schema applies to the parent's answer only.
  const { outputSchema: _, ...inherited } = parent;
  const open = [...parent.tools.values()].filter((tool) => !tool.deferred || state.loaded.includes(tool.name));
  // Client-side tools are removed: no client waits for a sub-agent.
  const kept = open.filter(
    (tool) => tool.clientSideQuestion === undefined && (names === undefined || names.includes(tool.name)),
  );
  const shown = kept.map((tool): [string, Tool] => [tool.name, copyTool(tool, { deferred: false })]);
  // Another provider is at another place than that of the parent.
  const elsewhere = own.provider !== undefined && own.provider !== parent.provider;
  const { modelProvider: _provider, modelHost: _host, modelName: _name, ...unplaced } = inherited;
  return {
    ...(elsewhere ? unplaced : inherited),
    checks: parent.checks.filter((check) => check.isInherited === true),
    ...own,
    tools: new Map(shown),
    gates: [...parent.gates, ...gates],
    stops: [...parent.stops, ...stops],
    reminders: [],
  };
}

/** The remaining limits of the parent, lowered by the limits of the sub-agent. */
export function subagentLimits(state: RunState, overrides: Partial<Limits> = {}): Partial<Limits> {
  const { limits, spent } = state;
  if (!limits) return overrides;
  const remaining = (limit: number | undefined, used: number, own: number | undefined): number | undefined => {
    const rest = limit === undefined ? undefined : Math.max(0, limit - used);
    return rest === undefined || own === undefined ? (rest ?? own) : Math.min(rest, own);
  };
  const bounds = {
    turns: remaining(limits.turns, spent.turns, overrides.turns),
    tokens: remaining(limits.tokens, spent.input + spent.output, overrides.tokens),
    usd: remaining(limits.usd, spent.usd, overrides.usd),
    ms: remaining(limits.ms, spent.ms, overrides.ms),
    calls: remaining(limits.calls, spent.calls, overrides.calls),
  };
  const set = Object.entries(bounds).filter(([, value]) => value !== undefined);
  return {
    ...overrides,
    errors: Math.min(limits.errors, overrides.errors ?? limits.errors),
    ...Object.fromEntries(set),
  };
}

/** The caps for the sub-agents of one session. No sub-agent starts another one. */
export type SubagentCaps = {
  /** The maximum number that may be started. */
  readonly agents: number;
  /** The maximum number that run at the same time. */
  readonly parallel: number;
  /** The maximum cost of all of them in US dollars. */
  readonly usd: number;
  /** The user is asked after each so many agents, in every permission mode; 0 never asks. */
  readonly askAfter: number;
  /** The user is asked each time the estimated cost passes a multiple of this amount, in every permission mode; 0 never asks. */
  readonly askUsd: number;
};

/** The caps that apply if the user sets no others. */
export const defaultSubagentCaps: SubagentCaps = { agents: 20, parallel: 4, usd: 10, askAfter: 5, askUsd: 5 };
