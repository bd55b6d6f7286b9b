// The agents that a session started: each on a log of its own, paid for by its parent, stopped with it. Few at a time, and none starts others.
import { createHash } from 'node:crypto';
import {
  FairleadError,
  noSpending,
  spend,
  type Provider,
  type RunState,
  type Spent,
  type ToolContext,
} from '../../core/index.ts';
import type { About, AgentWish, Known } from './about.ts';
import { begin, type Child, type CrewOptions, type Said } from './child.ts';
import { overBudget, shareOf, usedBy, type Held } from './purse.ts';

/** How many agents of one session may be at work side by side. */
export const mostAtOnce = 4;
const usualTurns = 25;

/** A session's agents. */
export type Crew = {
  /** Starts the agent of this call, or goes on with it where the call was made before and the program died. */
  start(wish: AgentWish, context: ToolContext): Promise<Child>;
  /** Goes on with an agent: with words if there are any, and anyway if it was interrupted. */
  goOn(known: Known, words: string | undefined, context: ToolContext): Promise<Child>;
  /** All agents of a session. */
  of(parent: string): Promise<readonly Known[]>;
  live(id: string): Child | undefined;
  /** Its report is read now; whether it had ended in the background and nobody had read that before. */
  read(id: string): boolean;
  /** What its agents have used since this was last asked, for the parent to be charged with. */
  owed(parent: string): Spent | undefined;
  /** Stops them all and waits until they are written down. */
  close(): Promise<void>;
};

/** No agents to begin with. */
export function openCrew(options: CrewOptions): Crew {
  const { keeping } = options;
  const live = new Map<string, Child>();
  const debts = new Map<string, Spent>();
  /** What was charged of runs that were left open: who goes on with one pays the rest of it. */
  const charged = new Map<string, Spent>();
  /** Those whose report nobody has had yet. */
  const unread = new Set<string>();
  const mine = (parent: string): readonly Child[] => [...live.values()].filter(({ about }) => about.parent === parent);
  const debtOf = (parent: string): readonly Held[] => {
    const spent = debts.get(parent);
    return spent ? [usedBy({ spent })] : [];
  };

  /** One after the other: what one takes of the places and of the budget, the next must know. */
  let turn: Promise<unknown> = Promise.resolve();
  function launch(...given: Parameters<typeof launchNow>): Promise<Child> {
    const mine = turn.then(() => launchNow(...given));
    turn = mine.catch(() => {});
    return mine;
  }

  async function launchNow(id: string, about: About, said: Said | undefined, context: ToolContext): Promise<Child> {
    const { parent } = about;
    const going = live.get(id);
    if (said) await going?.say(said);
    if (going) return going;
    if (mine(parent).length >= mostAtOnce) throw crowded();
    const { max_turns: turns = usualTurns, background = false } = about;
    const among = background ? mostAtOnce - mine(parent).length : 1;
    const held = [...mine(parent).map(({ granted }) => granted), ...debtOf(parent)];
    const limits = shareOf(context.state, { turns }, held, among);
    if (!(limits.turns === undefined || limits.turns >= 1)) throw broke();
    const provider = about.model === undefined ? undefined : await modelFor(about.model, options);
    const child = await begin(id, about, said, { context, limits, provider, options });
    live.set(id, child);
    const used = (): readonly Held[] => [...mine(parent).map(({ state }) => usedBy(state)), ...debtOf(parent)];
    const unwatch = watchPurse(child, used, context);
    const settle = (end: RunState): void => {
      live.delete(id);
      unwatch();
      debts.set(parent, spend(debts.get(parent) ?? noSpending, { ...since(end.spent, charged.get(id)), ms: 0 }));
      if (end.run === undefined) charged.delete(id);
      else charged.set(id, end.spent);
      if (!background) return;
      unread.add(id);
      options.ended?.({ id, about, state: end, live: false });
    };
    void child.over.then(settle);
    return child;
  }

  return {
    start: (wish, context) => {
      const about = { ...wish, parent: context.state.session, key: context.key };
      return launch(idOf(context.key), about, undefined, context);
    },
    // Whoever goes on with one does not stand still for it.
    goOn: ({ id, about }, words, context) => {
      const said = words === undefined ? undefined : { words, key: context.key };
      return launch(id, { ...about, background: true }, said, context);
    },
    live: (id) => live.get(id),
    read: (id) => unread.delete(id),
    async of(parent) {
      const here = mine(parent);
      const kept = await keeping.kept(parent);
      return [...kept.filter(({ id }) => !live.has(id)), ...here];
    },
    owed(parent) {
      const spent = debts.get(parent);
      debts.delete(parent);
      return spent;
    },
    async close() {
      const all = [...live.values()];
      for (const child of all) child.stop();
      await Promise.all(all.map(({ over }) => over));
    },
  };
}

/** What was used after this much had been. */
const since = (now: Spent, before: Spent = noSpending): Spent => ({
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
const idOf = (key: string): string => `agent-${createHash('sha256').update(key).digest('hex').slice(0, 10)}`;

/** Stops an agent when its parent's run ends without an answer, and when all that the parent's agents use is as much as the parent has left. */
function watchPurse(child: Child, used: () => readonly Held[], { watch, state }: ToolContext): () => void {
  let parent = state;
  const look = (): void => {
    if (overBudget(parent, used())) child.stop();
  };
  const unwatch = watch?.((event, now) => {
    parent = now;
    if (event.type !== 'run-ended') return look();
    if (event.reason !== 'answered' && event.reason !== 'task-complete') child.stop();
  });
  const unhear = child.hear(look);
  return () => {
    unwatch?.();
    unhear();
  };
}

async function modelFor(name: string, { model }: CrewOptions): Promise<Provider> {
  if (model) return model(name);
  throw new FairleadError('agent/no-model', 'Agents have their parent’s model here.', {
    blame: 'model',
    hint: 'Leave the model away.',
  });
}

const crowded = (): FairleadError =>
  new FairleadError('agent/too-many', `${mostAtOnce} agents are at work already.`, {
    blame: 'model',
    hint: 'Wait for one, or stop one.',
  });

const broke = (): FairleadError =>
  new FairleadError('agent/no-budget', 'Too little of this run’s budget is left for an agent.', {
    blame: 'model',
    hint: 'Finish the task yourself, or wait until other agents are done.',
  });
