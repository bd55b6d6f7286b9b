// The agents that a session started: each on a log of its own, paid for by its parent, stopped with it. Few at a time, and none starts others.
import { createHash } from 'node:crypto';
import {
  FairleadError,
  zeroUsage,
  addUsage,
  type Provider,
  type RunState,
  type UsageTotals,
  type ToolContext,
} from '../../core/index.ts';
import type { SubagentMetadata, SubagentSpec, SubagentInfo } from './metadata.ts';
import { launchSubagent, type RunningSubagent, type SubagentManagerOptions, type SubagentMessage } from './launch.ts';
import { isOverBudget, computeBudgetShare, budgetUsed, type BudgetShare } from './budget-share.ts';

/** How many agents of one session may be at work side by side. */
export const maxConcurrentSubagents = 4;
const defaultSubagentTurns = 25;

/** A session's agents. */
export type SubagentManager = {
  /** Starts the agent of this call, or goes on with it where the call was made before and the program died. */
  spawn(wish: SubagentSpec, context: ToolContext): Promise<RunningSubagent>;
  /** Goes on with an agent: with words if there are any, and anyway if it was interrupted. */
  resume(known: SubagentInfo, words: string | undefined, context: ToolContext): Promise<RunningSubagent>;
  /** All agents of a session. */
  list(parent: string): Promise<readonly SubagentInfo[]>;
  running(id: string): RunningSubagent | undefined;
  /** Its report is read now; whether it had ended in the background and nobody had read that before. */
  markRead(id: string): boolean;
  /** What its agents have used since this was last asked, for the parent to be charged with. */
  takeUnchargedUsage(parent: string): UsageTotals | undefined;
  /** Stops them all and waits until they are written down. */
  close(): Promise<void>;
};

/** No agents to begin with. */
export function createSubagentManager(options: SubagentManagerOptions): SubagentManager {
  const { store } = options;
  const live = new Map<string, RunningSubagent>();
  const debts = new Map<string, UsageTotals>();
  /** What was charged of runs that were left open: who goes on with one pays the rest of it. */
  const charged = new Map<string, UsageTotals>();
  /** Those whose report nobody has had yet. */
  const unread = new Set<string>();
  const mine = (parent: string): readonly RunningSubagent[] =>
    [...live.values()].filter(({ metadata }) => metadata.parent === parent);
  const debtOf = (parent: string): readonly BudgetShare[] => {
    const spent = debts.get(parent);
    return spent ? [budgetUsed({ spent })] : [];
  };

  /** One after the other: what one takes of the places and of the budget, the next must know. */
  let turn: Promise<unknown> = Promise.resolve();
  function launch(...given: Parameters<typeof launchNow>): Promise<RunningSubagent> {
    const mine = turn.then(() => launchNow(...given));
    turn = mine.catch(() => {});
    return mine;
  }

  async function launchNow(
    id: string,
    about: SubagentMetadata,
    said: SubagentMessage | undefined,
    context: ToolContext,
  ): Promise<RunningSubagent> {
    const { parent } = about;
    const going = live.get(id);
    if (said) await going?.send(said);
    if (going) return going;
    if (mine(parent).length >= maxConcurrentSubagents) throw tooManySubagentsError();
    const { max_turns: turns = defaultSubagentTurns, background = false } = about;
    const among = background ? maxConcurrentSubagents - mine(parent).length : 1;
    const held = [...mine(parent).map(({ budget }) => budget), ...debtOf(parent)];
    const limits = computeBudgetShare(context.state, { turns }, held, among);
    if (!(limits.turns === undefined || limits.turns >= 1)) throw noBudgetError();
    const provider = about.model === undefined ? undefined : await openSubagentModel(about.model, options);
    const child = await launchSubagent(id, about, said, { context, limits, provider, options });
    live.set(id, child);
    const used = (): readonly BudgetShare[] => [
      ...mine(parent).map(({ state }) => budgetUsed(state)),
      ...debtOf(parent),
    ];
    const unwatch = enforceBudget(child, used, context);
    const settle = (end: RunState): void => {
      live.delete(id);
      unwatch();
      debts.set(parent, addUsage(debts.get(parent) ?? zeroUsage, { ...usageSince(end.spent, charged.get(id)), ms: 0 }));
      if (end.run === undefined) charged.delete(id);
      else charged.set(id, end.spent);
      if (!background) return;
      unread.add(id);
      options.onEnd?.({ id, metadata: about, state: end, running: false });
    };
    void child.done.then(settle);
    return child;
  }

  return {
    spawn: (wish, context) => {
      const about = { ...wish, parent: context.state.session, key: context.key };
      return launch(subagentId(context.key), about, undefined, context);
    },
    // Whoever goes on with one does not stand still for it.
    resume: ({ id, metadata }, words, context) => {
      const said = words === undefined ? undefined : { text: words, key: context.key };
      return launch(id, { ...metadata, background: true }, said, context);
    },
    running: (id) => live.get(id),
    markRead: (id) => unread.delete(id),
    async list(parent) {
      const here = mine(parent);
      const kept = await store.list(parent);
      return [...kept.filter(({ id }) => !live.has(id)), ...here];
    },
    takeUnchargedUsage(parent) {
      const spent = debts.get(parent);
      debts.delete(parent);
      return spent;
    },
    async close() {
      const all = [...live.values()];
      for (const child of all) child.stop();
      await Promise.all(all.map(({ done }) => done));
    },
  };
}

/** What was used after this much had been. */
const usageSince = (now: UsageTotals, before: UsageTotals = zeroUsage): UsageTotals => ({
  turns: now.turns - before.turns,
  calls: now.calls - before.calls,
  input: now.input - before.input,
  output: now.output - before.output,
  cacheRead: now.cacheRead - before.cacheRead,
  cacheWrite: now.cacheWrite - before.cacheWrite,
  usd: now.usd - before.usd,
  turnsWithoutPrice: now.turnsWithoutPrice - before.turnsWithoutPrice,
  ms: now.ms - before.ms,
});

/** The same for every attempt at a call, so that a call which is made again finds the agent that it started. */
const subagentId = (key: string): string => `agent-${createHash('sha256').update(key).digest('hex').slice(0, 10)}`;

/** Stops an agent when its parent's run ends without an answer, and when all that the parent's agents use is as much as the parent has left. */
function enforceBudget(
  child: RunningSubagent,
  used: () => readonly BudgetShare[],
  { subscribe, state }: ToolContext,
): () => void {
  let parent = state;
  const look = (): void => {
    if (isOverBudget(parent, used())) child.stop();
  };
  const unwatch = subscribe?.((event, now) => {
    parent = now;
    if (event.type !== 'run-ended') return look();
    if (event.reason !== 'answered' && event.reason !== 'task-complete') child.stop();
  });
  const unhear = child.subscribe(look);
  return () => {
    unwatch?.();
    unhear();
  };
}

async function openSubagentModel(name: string, { openModel }: SubagentManagerOptions): Promise<Provider> {
  if (openModel) return openModel(name);
  throw new FairleadError('agent/no-model', 'Agents have their parent’s model here.', {
    blame: 'model',
    hint: 'Leave the model away.',
  });
}

const tooManySubagentsError = (): FairleadError =>
  new FairleadError('agent/too-many', `${maxConcurrentSubagents} agents are at work already.`, {
    blame: 'model',
    hint: 'Wait for one, or stop one.',
  });

const noBudgetError = (): FairleadError =>
  new FairleadError('agent/no-budget', 'Too little of this run’s budget is left for an agent.', {
    blame: 'model',
    hint: 'Finish the task yourself, or wait until other agents are done.',
  });
