// What a run is worked on with, made by whoever starts a worker: the terminal, a server, a program of somebody.
import type { Session } from '../agent/index.ts';
import type { ResolvedAgent, Event, FleetRun, Limits, Provider, RunState } from '../core/index.ts';

/** What a run is worked on with. */
export type AgentInstance = {
  readonly parts: ResolvedAgent;
  readonly limits?: Partial<Limits>;
  /** Called once the session is open and before anything is said in it. */
  onSessionOpened?(session: Session): Promise<void>;
  /** Hears the words before they are written down, and gives what is to be added to them; throws where they are refused. */
  onPrompt?(words: string, state: RunState): Promise<readonly string[]>;
  /** Learns of each event. */
  onEvent?(event: Event, state: RunState): void;
  close(): Promise<void>;
};

/** Puts the governor of a run around a model; every model that the run uses is to be opened through it. */
export type WrapProvider = (provider: Provider) => Provider;

/** Makes what a run needs. An error of which the user or the model is to blame ends the run; any other puts it back. */
export type AgentFactory = (run: FleetRun, signal: AbortSignal, govern: WrapProvider) => Promise<AgentInstance>;
