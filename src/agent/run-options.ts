// The options of a session, and of a run in it.
import type {
  ApprovalHandler,
  Chunk,
  Limits,
  OutputSchema,
  ProcessPort,
  SessionStore,
  ToolChoice,
  TraceContext,
} from '../core/index.ts';
import type { SchemaLike } from './schema.ts';

/** Opens the log of a session for writing. Every `SessionStore` is one. */
export type SessionLogStore = Pick<SessionStore, 'open'>;

/** Which session to open, and where it is kept. */
export type SessionOptions = {
  /** `fileSession(path)`, or any `SessionStore`; without a store the session is in memory. */
  readonly store?: SessionLogStore;
  /** The session to continue, or the id of a new one; random by default. */
  readonly id?: string;
};

/** The options of one step of a session from its state to an answer or a pending approval. */
export type AdvanceOptions = {
  /** Ends the run. With a FairleadError `run/left` as its reason it detaches instead: the current step is aborted and the run can be resumed. */
  readonly signal?: AbortSignal;
  /** Detaches from the run after the current step; the run can be resumed. */
  readonly detachSignal?: AbortSignal;
  /** Limits of this run, over those of the agent. */
  readonly limits?: Partial<Limits>;
  /** Forces the first answer to be a tool call, or forbids one. */
  readonly toolChoice?: ToolChoice;
  /** Without input: sends the history as it is, even if it ends with an answer, instead of adding a short message. For servers that accept such a request. */
  readonly asIs?: boolean;
  /** The id of the run; random by default. */
  readonly runId?: string;
  /** The trace of the request that starts the run: its spans become children of that request. */
  readonly trace?: TraceContext;
  /** The id of the input in the log; random by default. */
  readonly inputId?: string;
  /** Replaces the output schema of the agent in this run. */
  readonly outputSchema?: OutputSchema;
  /** Receives each chunk of an answer before the answer is complete. */
  readonly onChunk?: (chunk: Chunk) => void;
  /** Receives the progress of a running tool; it is not recorded. */
  readonly onToolProgress?: (call: string, text: string) => void;
  /** The clock and the timers of the run; those of this process by default. */
  readonly port?: Pick<ProcessPort, 'monotonicMs' | 'timer'>;
};

/** The options of one run. */
export type RunOptions<S extends SchemaLike | undefined = SchemaLike | undefined> = Omit<
  AdvanceOptions,
  'outputSchema'
> & {
  /** Decides about tool calls that need approval. Without it the run ends with the status `waiting`. */
  readonly onApproval?: ApprovalHandler;
  /** A Standard Schema, zod schema or JSON Schema that the answer must match; `result.object` has its type. */
  readonly outputSchema?: S;
};
