// Required order, mutual exclusion and phases: which tools may be called, depending on earlier calls.
import type { RunState } from '../../core/index.ts';
import { toolStats } from '../session-stats/selectors.ts';
import type { PeriodCounts } from '../session-stats/tool-stats.ts';
import { sessionStats } from '../session-stats/view.ts';
import { earlierOpenCalls, defineGate, type GateRule, type RuleScope } from './gate-rule.ts';

/** The name of a rule about several tools, and its scope. */
export type RuleScopeOptions = {
  /** The name of the rule. */
  readonly name?: string;
  /** How long a call counts: the user turn, the run or the session. */
  readonly per?: RuleScope;
};

/** Returns the counts of a tool in a scope. */
function toolCounts(state: RunState, tool: string, per: RuleScope): Pick<PeriodCounts, 'calls' | 'ok'> {
  const stats = toolStats(state, tool);
  return per === 'session' ? stats : stats[per];
}

/** Denies a tool until the one before it in this list has succeeded. */
export function requireOrder(
  tools: readonly string[],
  { name = tools.join('-then-'), per = 'run' }: RuleScopeOptions = {},
): GateRule {
  const [first = 'first', second = 'second'] = tools;
  return defineGate({
    name,
    description: `These must be called in this order: ${tools.join(', ')}.`,
    views: [sessionStats],
    decide: ({ tool }, state) => {
      const needed = tools[tools.indexOf(tool) - 1];
      if (needed === undefined || toolCounts(state, needed, per).ok > 0) return undefined;
      return { deny: `${needed} must succeed before ${tool}. Call ${needed} first.` };
    },
    examples: [
      { title: `${first} at the start`, call: { tool: first }, decides: 'allow' },
      { title: `${second} before ${first}`, call: { tool: second }, decides: 'deny' },
      {
        title: `${second} after ${first}`,
        history: [{ said: 'go' }, { called: first }],
        call: { tool: second },
        decides: 'allow',
      },
      {
        title: `${second} after ${first} failed`,
        history: [{ said: 'go' }, { called: first, outcome: 'failed' }],
        call: { tool: second },
        decides: 'deny',
      },
    ],
  });
}

/** Denies every tool of this list except the one that was called first. */
export function exclusive(
  tools: readonly string[],
  { name = `either-${tools.join('-or-')}`, per = 'run' }: RuleScopeOptions = {},
): GateRule {
  const [first = 'first', second = 'second'] = tools;
  return defineGate({
    name,
    description: `Only one of these may be called: ${tools.join(', ')}.`,
    views: [sessionStats],
    decide: (call, state) => {
      if (!tools.includes(call.tool)) return undefined;
      const others = tools.filter((tool) => tool !== call.tool);
      const calledTool =
        others.find((tool) => toolCounts(state, tool, per).calls > 0) ??
        earlierOpenCalls(call, state).find(({ tool }) => others.includes(tool))?.tool;
      return calledTool === undefined
        ? undefined
        : { deny: `${calledTool} was called, and ${call.tool} excludes it. Continue with ${calledTool}.` };
    },
    examples: [
      { title: `${second} alone`, call: { tool: second }, decides: 'allow' },
      {
        title: `${second} after ${first}`,
        history: [{ said: 'go' }, { called: first }],
        call: { tool: second },
        decides: 'deny',
      },
      {
        title: `${first} again`,
        history: [{ said: 'go' }, { called: first }],
        call: { tool: first },
        decides: 'allow',
      },
    ],
  });
}

/** What happens to tools that no phase lists. */
export type PhaseOptions = {
  /** The name of the rule. */
  readonly name?: string;
  /** What applies to tools of no phase. */
  readonly others?: 'allow' | 'deny';
};

/** Allows in each phase only its own tools. An unknown phase allows none of them. */
export function phases(
  tools: Readonly<Record<string, readonly string[]>>,
  phaseOf: (state: RunState) => string,
  { name = 'phases', others = 'allow' }: PhaseOptions = {},
): GateRule {
  const listedTools = new Set(Object.values(tools).flat());
  return defineGate({
    name,
    description: `Each phase has its own tools: ${Object.keys(tools).join(', ')}.`,
    views: [sessionStats],
    decide: ({ tool }, state) => {
      if (!listedTools.has(tool) && others === 'allow') return undefined;
      const phase = phaseOf(state);
      const allowed = Object.hasOwn(tools, phase) ? (tools[phase] ?? []) : [];
      if (allowed.includes(tool)) return undefined;
      return { deny: `${tool} is not allowed in the phase ${phase}; it has ${allowed.join(', ') || 'no tools'}.` };
    },
  });
}
