// The sub-agents of a session: each has its own log, is charged to its parent's budget and stops with its parent. None starts others.
import {
  FairleadError,
  zeroUsage,
  addUsage,
  defaultSubagentCaps,
  type SubagentCaps,
  type Provider,
  type RunState,
  type UsageTotals,
  type ToolContext,
} from '../../core/index.ts';
import { applyAgentFile, assertFileTrusted } from './apply-agent-file.ts';
import { defaultSubagentTurns, formatUsd, sumSubagentUse } from './caps.ts';
import { subagentId, type SubagentMetadata, type SubagentSpec, type SubagentInfo } from './metadata.ts';
import { identifyAuthor } from './find-author.ts';
import type { ReviewRecord } from './independence.ts';
import { launchSubagent, type RunningSubagent, type SubagentManagerOptions, type SubagentMessage } from './launch.ts';
import { isOverBudget, computeBudgetShare, budgetUsed, type BudgetShare } from './budget-share.ts';

/** The sub-agents of the sessions of this process. */
export type SubagentManager = {
  /** Starts the sub-agent of this call, or resumes it if the call was made before a crash. */
  spawn(spec: SubagentSpec, context: ToolContext): Promise<RunningSubagent>;
  /** Resumes a sub-agent, with a message if there is one. */
  resume(subagent: SubagentInfo, message: string | undefined, context: ToolContext): Promise<RunningSubagent>;
  /** All sub-agents of a session. */
  list(parent: string): Promise<readonly SubagentInfo[]>;
  running(id: string): RunningSubagent | undefined;
  /** Marks the report of a sub-agent as read. Returns whether it ended in the background and its report was unread. */
  markRead(id: string): boolean;
  /** The usage of a session's sub-agents since the last call, which the session must be charged with. */
  takeUnchargedUsage(parent: string): UsageTotals | undefined;
  /** Stops all sub-agents and waits until their logs are written. */
  close(): Promise<void>;
};

/** A manager without sub-agents. */
export function createSubagentManager(options: SubagentManagerOptions): SubagentManager {
  const { store, caps = defaultSubagentCaps } = options;
  const running = new Map<string, RunningSubagent>();
  const uncharged = new Map<string, UsageTotals>();
  /** What was charged for runs that have not ended, so that a resumed run is charged only for the rest. */
  const charged = new Map<string, UsageTotals>();
  /** Background sub-agents whose report was not read. */
  const unread = new Set<string>();
  const runningOf = (parent: string): readonly RunningSubagent[] =>
    [...running.values()].filter(({ metadata }) => metadata.parent === parent);
  const unchargedOf = (parent: string): readonly BudgetShare[] => {
    const spent = uncharged.get(parent);
    return spent ? [budgetUsed({ spent })] : [];
  };

  async function listAll(parent: string): Promise<readonly SubagentInfo[]> {
    const stored = await store.list(parent);
    return [...stored.filter(({ id }) => !running.has(id)), ...runningOf(parent)];
  }

  /** A sub-agent that still runs, with its present state. */
  const currentOf = (subagent: SubagentInfo): SubagentInfo => running.get(subagent.id) ?? subagent;

  /** Launches are serial: each must see the slots and the budget that the one before has taken. */
  let lastLaunch: Promise<unknown> = Promise.resolve();
  function launch(...args: Parameters<typeof launchNow>): Promise<RunningSubagent> {
    const launched = lastLaunch.then(() => launchNow(...args));
    lastLaunch = launched.catch(() => {});
    return launched;
  }

  async function launchNow(
    id: string,
    metadata: SubagentMetadata,
    message: SubagentMessage | undefined,
    context: ToolContext,
  ): Promise<RunningSubagent> {
    const { parent } = metadata;
    const active = running.get(id);
    if (message) await active?.send(message);
    if (active) return active;
    if (runningOf(parent).length >= caps.parallel) throw tooManySubagentsError(caps.parallel);
    const others = (await listAll(parent)).filter((each) => each.id !== id);
    assertWithinCaps(caps, others, message === undefined);
    const { background = false } = metadata;
    const shares = background ? caps.parallel - runningOf(parent).length : 1;
    const reserved = [...runningOf(parent).map(({ budget }) => budget), ...unchargedOf(parent)];
    const limits = computeBudgetShare(context.state, getRequestedBudget(metadata), reserved, shares);
    if (!(limits.turns === undefined || limits.turns >= 1)) throw noBudgetError();
    const provider = metadata.model === undefined ? undefined : await openSubagentModel(metadata.model, options);
    const review = await reviewOf(id, metadata, others, provider, context);
    const recorded = review ? { ...metadata, review } : metadata;
    const child = await launchSubagent(id, recorded, message, { context, limits, provider, options });
    running.set(id, child);
    const used = (): readonly BudgetShare[] => [
      ...runningOf(parent).map(({ state }) => budgetUsed(state)),
      ...unchargedOf(parent),
    ];
    const isOverCap = (): boolean => sumSubagentUse([...others, child].map(currentOf)).usd > caps.usd;
    const unsubscribe = enforceBudget(child, used, isOverCap, context);
    const onDone = (end: RunState): void => {
      running.delete(id);
      unsubscribe();
      const usage = { ...usageSince(end.spent, charged.get(id)), ms: 0 };
      uncharged.set(parent, addUsage(uncharged.get(parent) ?? zeroUsage, usage));
      if (end.run === undefined) charged.delete(id);
      else charged.set(id, end.spent);
      if (!background) return;
      unread.add(id);
      options.onEnd?.({ id, metadata, state: end, running: false });
    };
    void child.done.then(onDone);
    return child;
  }

  return {
    spawn: async (spec, context) => {
      const applied = applyAgentFile(spec, options.agents ?? []);
      const metadata = { ...applied, parent: context.state.session, key: context.key };
      return launch(subagentId(context.key), metadata, undefined, context);
    },
    // A resumed sub-agent always runs in the background: the caller decides whether to wait.
    resume: async ({ id, metadata }, text, context) => {
      if (text !== undefined) assertFileTrusted(metadata, options.agents ?? []);
      const message = text === undefined ? undefined : { text, key: context.key };
      return launch(id, { ...metadata, background: true }, message, context);
    },
    running: (id) => running.get(id),
    markRead: (id) => unread.delete(id),
    list: listAll,
    takeUnchargedUsage(parent) {
      const spent = uncharged.get(parent);
      uncharged.delete(parent);
      return spent;
    },
    async close() {
      const all = [...running.values()];
      for (const child of all) child.stop();
      await Promise.all(all.map(({ done }) => done));
    },
  };
}

/** The record of the review that a sub-agent is started for. Throws if the sub-agent is not independent of the author. */
async function reviewOf(
  id: string,
  { reviews, agent }: SubagentMetadata,
  others: readonly SubagentInfo[],
  provider: Provider | undefined,
  { state, agent: caller }: ToolContext,
): Promise<ReviewRecord | undefined> {
  if (reviews === undefined) return undefined;
  const { createReviewRecord, identifyStart } = await import('./independence.ts');
  const author = await identifyAuthor(reviews, others, { state, agent: caller });
  return createReviewRecord(author, await identifyStart({ id, agent }, provider ?? caller.provider));
}

/** What a sub-agent may use at most: what its call and its file say, or the default. */
function getRequestedBudget({ max_turns: asked, limits = {} }: SubagentMetadata): BudgetShare {
  const turns = Math.min(asked ?? Infinity, limits.turns ?? Infinity);
  return { ...limits, turns: Number.isFinite(turns) ? turns : defaultSubagentTurns };
}

/** The usage since an earlier total. */
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

/** Stops a sub-agent if its parent's run ends without an answer, or if the parent and its sub-agents together exceed the limits of the parent. */
function enforceBudget(
  child: RunningSubagent,
  used: () => readonly BudgetShare[],
  isOverCap: () => boolean,
  { subscribe, state }: ToolContext,
): () => void {
  let parent = state;
  const stopIfOverBudget = (): void => {
    if (isOverCap() || isOverBudget(parent, used())) child.stop();
  };
  const unsubscribeParent = subscribe?.((event, now) => {
    parent = now;
    if (event.type !== 'run-ended') return stopIfOverBudget();
    if (event.reason !== 'answered' && event.reason !== 'task-complete') child.stop();
  });
  const unsubscribeChild = child.subscribe(stopIfOverBudget);
  return () => {
    unsubscribeParent?.();
    unsubscribeChild();
  };
}

async function openSubagentModel(name: string, { openModel }: SubagentManagerOptions): Promise<Provider> {
  if (openModel) return openModel(name);
  throw new FairleadError('agent/no-model', 'Agents use their parent’s model here.', {
    blame: 'model',
    hint: 'Omit the model.',
  });
}

/** Throws if the session may start no other sub-agent. A sub-agent that only continues is not counted again. */
function assertWithinCaps(caps: SubagentCaps, others: readonly SubagentInfo[], isStart: boolean): void {
  const { started, usd } = sumSubagentUse(others);
  if (isStart && started >= caps.agents)
    throw new FairleadError('agent/too-many-started', `This session has started ${caps.agents} agents, the maximum.`, {
      blame: 'model',
      hint: 'Finish the task yourself. The user can raise the setting agents.max.',
    });
  if (usd >= caps.usd)
    throw new FairleadError(
      'agent/money',
      `The agents of this session have cost ${formatUsd(usd)}, of ${formatUsd(caps.usd)}.`,
      {
        blame: 'model',
        hint: 'Finish the task yourself. The user can raise the setting agents.usd.',
      },
    );
}

const tooManySubagentsError = (max: number): FairleadError =>
  new FairleadError('agent/too-many', `${max} agents are running already.`, {
    blame: 'model',
    hint: 'Wait for one, or stop one.',
  });

const noBudgetError = (): FairleadError =>
  new FairleadError('agent/no-budget', 'Too little of this run’s budget is left for an agent.', {
    blame: 'model',
    hint: 'Finish the task yourself, or wait until other agents are done.',
  });
