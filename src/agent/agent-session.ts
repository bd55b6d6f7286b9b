// The AgentSession class: a session with methods that return only the text of an answer.
import { pendingApprovals, type ApprovalOptions, type PendingApproval } from '../core/index.ts';
import { unwrapResult, type RunResult } from './result.ts';
import type { RunOptions } from './run-options.ts';
import type { UserInput } from './session-facts.ts';
import type { Session } from './session.ts';
import type { StreamEvent } from './stream-events.ts';

/** A conversation with an agent, for callers that want text: `new AgentSession(await agent.session())`. */
export class AgentSession {
  /** The session itself, for everything else. */
  readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  /** Model turns of the whole conversation. */
  get turns(): number {
    return this.session.state.total.turns;
  }

  /** The tool calls that wait for `approve` or `reject`. */
  get pendingApprovals(): readonly PendingApproval[] {
    return pendingApprovals(this.session.state);
  }

  /** Approves a pending tool call. `ask…` without input then continues the run. */
  async approve(id: string, options?: Pick<ApprovalOptions, 'by'>): Promise<void> {
    await this.session.approve(id, options);
  }

  /** Rejects a pending tool call; the model reads the reason. */
  async reject(id: string, reason?: string, options?: Pick<ApprovalOptions, 'by'>): Promise<void> {
    await this.session.reject(id, reason, options);
  }

  /** Sends input, or resumes without input, and returns the text of the answer. Throws `MaxTurnsExceeded`, or the error of the run. */
  async ask(input?: UserInput, options?: RunOptions): Promise<string> {
    return unwrapResult(await this.askResult(input, options));
  }

  /** Sends input, or resumes without input, and returns the result. */
  async askResult(input?: UserInput, options?: RunOptions): Promise<RunResult> {
    return this.session.run(input, options);
  }

  /** Sends input, or resumes without input, and streams the events; the last one has the result. */
  async *askStream(input?: UserInput, options?: RunOptions): AsyncGenerator<StreamEvent> {
    yield* this.session.stream(input, options);
  }

  /** Closes the session. */
  async close(): Promise<void> {
    await this.session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
