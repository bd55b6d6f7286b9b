// The agents that a session started: each on a log of its own, paid for by its parent, stopped with it. Few at a time, and none starts others.
import { createHash } from 'node:crypto';
import {
  FairleadError,
  messageOf,
  noSpending,
  spend,
  toJson,
  type AgentParts,
  type Event,
  type Limits,
  type Log,
  type Provider,
  type RunState,
  type Spent,
  type ToolContext,
} from '../../core/index.ts';
import { Session } from '../session.ts';
import { AGENT_REMARK, told, type About, type AgentWish, type Known } from './about.ts';
import { narrowed, runToEnd, type AnswerFor } from './child-run.ts';
import { overBudget, shareOf, usedBy, type Held } from './purse.ts';

/** Where the logs of agents are kept. */
export type AgentKeeping = {
  /** The log of an agent, begun where there is none; `session` is the id that it has or is to have. */
  open(id: string, parent: string): Promise<{ readonly log: Log; readonly session?: string }>;
  /** The agents of a session that are kept. */
  kept(parent: string): Promise<readonly Known[]>;
};

/** What a crew is made from. */
export type CrewOptions = {
  readonly keeping: AgentKeeping;
  /** Who answers what the gates ask about an agent's calls. */
  readonly answer?: (agent: Pick<Known, 'id' | 'about'>) => AnswerFor;
  /** Opens another model by its name. */
  readonly model?: (name: string) => Promise<Provider>;
  /** Lets an answer count only where it was given in this process: a log can have been written by anybody. */
  readonly approvals?: () => {
    watch(session: Pick<Session, 'watch'>): void;
    heldBy(parts: AgentParts): AgentParts;
  };
  /** Hears of agents that end while nobody waits for them. */
  readonly ended?: (agent: Known) => void;
};

/** An agent that this process runs, or ran. */
export type Child = Known & {
  /** Its state at its end; never rejects. */
  readonly over: Promise<RunState>;
  readonly granted: Held;
  /** Calls back with what it does, a line at a time. */
  hear(line: (text: string) => void): () => void;
  say(words: string): Promise<void>;
  stop(): void;
};

/** The tools through which agents are started and managed: no agent gets them. */
export const crewTools: readonly string[] = ['spawn_agent', 'manage_agents'];

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
  /** Those whose report nobody has had yet. */
  const unread = new Set<string>();
  const mine = (parent: string): readonly Child[] => [...live.values()].filter(({ about }) => about.parent === parent);
  const heldFor = (parent: string): readonly Held[] => {
    const debt = debts.get(parent);
    return [...mine(parent).map(({ granted }) => granted), ...(debt ? [usedBy({ spent: debt })] : [])];
  };

  async function launch(id: string, about: About, words: string | undefined, context: ToolContext): Promise<Child> {
    const { parent } = about;
    const going = live.get(id);
    if (going) return going;
    if (mine(parent).length >= mostAtOnce) throw crowded();
    const { max_turns: turns = usualTurns, background = false } = about;
    const among = background ? mostAtOnce - mine(parent).length : 1;
    const limits = shareOf(context.state, { turns }, heldFor(parent), among);
    if (!(limits.turns === undefined || limits.turns >= 1)) throw broke();
    const provider = about.model === undefined ? undefined : await modelFor(about.model, options);
    const child = await begin(id, about, words, { context, limits, provider, options });
    live.set(id, child);
    const unwatch = watchPurse(child, () => [...mine(parent), ...(owing(parent) ?? [])], context);
    const settle = (end: RunState): void => {
      live.delete(id);
      unwatch();
      debts.set(parent, spend(debts.get(parent) ?? noSpending, { ...end.spent, ms: 0 }));
      if (!background) return;
      unread.add(id);
      options.ended?.({ id, about, state: end, live: false });
    };
    void child.over.then(settle);
    return child;
  }
  const owing = (parent: string): readonly { readonly state: { readonly spent: Spent } }[] | undefined => {
    const spent = debts.get(parent);
    return spent && [{ state: { spent } }];
  };

  return {
    start: (wish, context) => {
      const about = { ...wish, parent: context.state.session, key: context.key };
      return launch(idOf(context.key), about, undefined, context);
    },
    goOn: (known, words, context) => launch(known.id, known.about, words, context),
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

/** The same for every attempt at a call, so that a call which is made again finds the agent that it started. */
const idOf = (key: string): string => `agent-${createHash('sha256').update(key).digest('hex').slice(0, 10)}`;

type Launch = {
  readonly context: ToolContext;
  readonly limits: Partial<Limits>;
  readonly provider: Provider | undefined;
  readonly options: CrewOptions;
};

/** Opens the agent's log and lets it run: from the start, from where it stood, or not at all where it is done and nothing more is said. */
async function begin(
  id: string,
  about: About,
  words: string | undefined,
  { context, limits, provider, options }: Launch,
): Promise<Child> {
  const { log, session: sessionId } = await options.keeping.open(id, about.parent);
  const approvals = options.approvals?.();
  const parts = partsOf(about, context, provider);
  const session = await Session.open(approvals?.heldBy(parts) ?? parts, log, sessionId).catch(
    async (error: unknown) => {
      await log.close();
      throw error;
    },
  );
  approvals?.watch(session);
  const { run, ended } = session.state;
  const fresh = run === undefined && ended === undefined;
  if (fresh) await session.remark(AGENT_REMARK, toJson(about));
  if (words !== undefined && run !== undefined) await session.steer(words);
  const stop = new AbortController();
  const ears = new Set<(line: string) => void>();
  session.watch((event: Event, state: RunState) => {
    const line = told(event, state);
    if (line !== undefined) for (const hear of ears) hear(line);
  });
  const said = run !== undefined ? undefined : (words ?? (fresh ? about.task : undefined));
  const answer = options.answer?.({ id, about });
  const work = async (): Promise<RunState> => {
    try {
      if (run === undefined && said === undefined) return session.state;
      return await runToEnd(session, said, { signal: stop.signal, limits, answer });
    } catch (error) {
      return brokenOff(session.state, error);
    } finally {
      await log.close().catch(() => {});
    }
  };
  const over = work();
  const now = session.state.limits;
  return {
    id,
    about,
    over,
    live: true,
    granted: run !== undefined && now ? now : limits,
    get state() {
      return session.state;
    },
    hear(line) {
      ears.add(line);
      return () => ears.delete(line);
    },
    say: (text) => session.steer(text),
    stop: () => stop.abort(),
  };
}

/** A run whose log could not be written any more: its parent is told so. */
const brokenOff = (state: RunState, error: unknown): RunState => ({
  ...state,
  ended: { reason: 'provider-error', detail: messageOf(error) },
});

function partsOf(about: About, { agent, state }: ToolContext, provider: Provider | undefined): AgentParts {
  const tools = (about.tools ?? [...agent.tools.keys()]).filter((name) => !crewTools.includes(name));
  const system = [agent.system, standingText, about.role].filter(Boolean).join('\n\n');
  return narrowed(agent, state, { tools, system, ...(provider ? { provider } : {}) });
}

const standingText = `You are an agent that another agent has started for one task. You cannot start agents yourself.
- Do that task and no more. Nobody reads what you say on the way: your last message is your whole report.
- If you cannot do it, or are refused something you need, say so and stop.`;

/** Stops an agent when its parent's run ends without an answer, and when all that the parent's agents use is as much as the parent has left. */
function watchPurse(
  child: Child,
  others: () => readonly { readonly state: Pick<RunState, 'spent'> }[],
  { watch, state }: ToolContext,
): () => void {
  let parent = state;
  const look = (): void => {
    if (
      overBudget(
        parent,
        others().map((each) => usedBy(each.state)),
      )
    )
      child.stop();
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
