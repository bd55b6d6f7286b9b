// One agent of a crew: opened on its own log with its parent's parts or fewer, run to its end, heard and stopped meanwhile.
import {
  messageOf,
  toJson,
  USE_TOOL,
  type AgentParts,
  type Event,
  type Limits,
  type Log,
  type Provider,
  type RunState,
  type ToolContext,
} from '../../core/index.ts';
import { LOAD_TOOLS } from '../define-tool.ts';
import { Session } from '../session.ts';
import { toolbox } from '../toolbox.ts';
import { AGENT_REMARK, told, type About, type Known } from './about.ts';
import { narrowed, runToEnd, type AnswerFor } from './child-run.ts';
import type { Held } from './purse.ts';

/** Where the logs of agents are kept. */
export type AgentKeeping = {
  /** The log of an agent, begun where there is none; `session` is the id that it has or is to have. */
  open(id: string, parent: string): Promise<{ readonly log: Log; readonly session?: string }>;
  /** The agents of a session that are kept. */
  kept(parent: string): Promise<readonly Known[]>;
};

/** The approvals that were given in this process. */
export type Approvals = {
  /** Begins anew with a session that was opened just now, before anything is answered in it. */
  watch(session: Pick<Session, 'watch'>): void;
  /** The same agent, for which an approval counts only if it was given here. */
  heldBy(parts: AgentParts): AgentParts;
};

/** What a crew is made from. */
export type CrewOptions = {
  readonly keeping: AgentKeeping;
  /** Who answers what the gates ask about an agent's calls. */
  readonly answer?: (agent: Pick<Known, 'id' | 'about'>) => AnswerFor;
  /** Opens another model by its name. */
  readonly model?: (name: string) => Promise<Provider>;
  /** Lets an answer count only where it was given in this process: a log can have been written by anybody. */
  readonly approvals?: () => Approvals;
  /** Makes sure of the questions that a log was left with, before anybody is asked them. */
  readonly reopened?: (session: Session) => Promise<void>;
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
  /** Tells it something, unless it has heard that already. */
  say(said: Said): Promise<void>;
  stop(): void;
};

/** Words for an agent, and the key of the call that said them: a call that is made again says nothing twice. */
export type Said = { readonly words: string; readonly key: string };

/** The tools through which agents are started and managed: no agent gets them. */
const crewTools: readonly string[] = ['spawn_agent', 'manage_agents'];

/** What an agent is begun with. */
export type Launch = {
  readonly context: ToolContext;
  readonly limits: Partial<Limits>;
  readonly provider: Provider | undefined;
  readonly options: CrewOptions;
};

/** Opens the agent's log and lets it run: from the start, from where it stood, or not at all where it is done and nothing more is said. */
export async function begin(id: string, about: About, said: Said | undefined, launch: Launch): Promise<Child> {
  const { log, session: sessionId } = await launch.options.keeping.open(id, about.parent);
  try {
    const approvals = launch.options.approvals?.();
    const parts = partsOf(about, launch);
    const session = await Session.open(approvals?.heldBy(parts) ?? parts, log, sessionId);
    approvals?.watch(session);
    const { run, ended } = session.state;
    if (run !== undefined) await launch.options.reopened?.(session);
    const isNew = run === undefined && ended === undefined;
    if (isNew) await session.remark(AGENT_REMARK, toJson(about));
    if (said && run !== undefined) await tell(session, said);
    const task: Said | undefined = isNew ? { words: about.task, key: about.key } : undefined;
    const fresh = said && !(await wasTold(session, said)) ? said : undefined;
    return setGoing(id, about, session, run === undefined ? (fresh ?? task) : undefined, launch);
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function tell(session: Session, said: Said): Promise<void> {
  if (!(await wasTold(session, said))) await session.steer(said.words, { input: said.key });
}

/** Whether these very words stand in its log. */
async function wasTold({ log }: Session, { key }: Said): Promise<boolean> {
  for await (const events of log.read())
    if (events.some((event) => event.type === 'input-received' && event.input === key)) return true;
  return false;
}

/** The agent at work on its open session, which is closed when it ends. */
function setGoing(
  id: string,
  about: About,
  session: Session,
  said: Said | undefined,
  { limits, options }: Launch,
): Child {
  const { run, pending, limits: before } = session.state;
  const stop = new AbortController();
  const ears = new Set<(line: string) => void>();
  session.watch((event: Event, state: RunState) => {
    const line = told(event, state);
    if (line !== undefined) for (const hear of ears) hear(line);
  });
  const answer = options.answer?.({ id, about });
  const work = async (): Promise<RunState> => {
    try {
      // Words may have been written down by a process that did not live to read them.
      if (run === undefined && !said && pending.length === 0) return session.state;
      const input = said ? { input: said.key } : {};
      return await runToEnd(session, said?.words, { signal: stop.signal, limits, answer, ...input });
    } catch (error) {
      return brokenOff(session.state, error);
    } finally {
      await session.close().catch(() => {});
    }
  };
  return {
    id,
    about,
    over: work(),
    live: true,
    granted: run === undefined ? limits : (before ?? limits),
    get state() {
      return session.state;
    },
    hear(line) {
      ears.add(line);
      return () => ears.delete(line);
    },
    say: (more) => tell(session, more),
    stop: () => stop.abort(),
  };
}

/** A run whose log could not be written any more: its parent is told so. */
const brokenOff = (state: RunState, error: unknown): RunState => ({
  ...state,
  ended: { reason: 'provider-error', detail: messageOf(error) },
});

function partsOf(about: About, { context: { agent, state }, provider }: Launch): AgentParts {
  const system = [agent.system, standingText, about.role].filter(Boolean).join('\n\n');
  const parts = narrowed(agent, state, { system, ...(provider ? { provider } : {}) });
  // Its parent's say what is so in the session that asks: the end of a command that it began is told to no other.
  return { ...parts, tools: toolsFor(about, agent), reminders: agent.reminders };
}

/** The parent's tools but those for agents, hidden as they are; of the ones that are named those alone, all in sight. */
function toolsFor({ tools: names }: About, { tools }: AgentParts): AgentParts['tools'] {
  const unfit = [...crewTools, LOAD_TOOLS, USE_TOOL];
  const all = [...tools.values()].filter(({ name }) => !unfit.includes(name));
  if (names === undefined) return toolbox(all);
  const kept = all.filter(({ name }) => names.includes(name));
  return toolbox(kept.map((tool) => ({ ...tool, run: tool.run.bind(tool), hidden: false })));
}

const standingText = `You are an agent that another agent has started for one task. You cannot start agents yourself.
- Do that task and no more. Nobody reads what you say on the way: your last message is your whole report.
- If you cannot do it, or are refused something you need, say so and stop.`;
