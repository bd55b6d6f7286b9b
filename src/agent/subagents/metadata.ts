// What a sub-agent was started with, as its own log records it.
import { hash } from 'node:crypto';
import { isObject, type Event, type RunState } from '../../core/index.ts';
import type { ReviewRecord } from './independence.ts';
import type { BudgetShare } from './budget-share.ts';

/** What a sub-agent is started with. */
export type SubagentSpec = {
  readonly task: string;
  /** The name of an agent file. */
  readonly agent?: string;
  /** Added to the system prompt of the sub-agent. */
  readonly role?: string;
  /** The parent's tools that it may use; all of them by default. */
  readonly tools?: readonly string[];
  readonly model?: string;
  /** The id of the agent whose work it reviews, or `self` for that of its parent. */
  readonly reviews?: string;
  readonly max_turns?: number;
  readonly background?: boolean;
};

/** What an agent file adds to a spec. The text of its agent is in `role`. */
export type AgentFileSpec = {
  /** The SHA-256 of the file. */
  readonly file_hash?: string;
  /** The tools that the file names; a name that ends with `*` is the beginning of names. */
  readonly file_tools?: readonly string[];
  readonly disallowed_tools?: readonly string[];
  readonly limits?: BudgetShare;
  readonly read_only?: boolean;
  /** The identities of the author and of the reviewer. */
  readonly review?: ReviewRecord;
};

/** A spec with its origin: the parent's session and the key of the call that started the sub-agent. */
export type SubagentMetadata = SubagentSpec & AgentFileSpec & { readonly parent: string; readonly key: string };

/** The annotation that marks a log as that of a sub-agent. */
export const SUBAGENT_ANNOTATION = 'agent';

/** The metadata in an event; undefined if the event is another one. */
export function parseSubagentMetadata(event: Event | undefined): SubagentMetadata | undefined {
  if (event?.type !== 'annotation-added' || event.key !== SUBAGENT_ANNOTATION || !isObject(event.value))
    return undefined;
  const { task, parent, key } = event.value;
  const complete = [task, parent, key].every((each) => typeof each === 'string');
  return complete ? (event.value as SubagentMetadata) : undefined;
}

/** The id of the sub-agent of a call. It is the same for every attempt at the call, so that a repeated call finds the sub-agent that it started. */
export const subagentId = (key: string): string => `agent-${hash('sha256', key).slice(0, 10)}`;

/** A sub-agent, running or not. */
export type SubagentInfo = {
  readonly id: string;
  readonly metadata: SubagentMetadata;
  readonly state: RunState;
  /** Whether this process runs it; `elsewhere` if another process does. */
  readonly running: boolean | 'elsewhere';
};
