// Tracks pending calls of MCP clients: a call runs until it ends or needs an approval, and resumes when the client sends the answer.
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { AdvanceOptions } from '../../agent/index.ts';
import {
  FairleadError,
  isObject,
  errorMessage,
  escapeInvisible,
  type ToolCall,
  type Event,
  type RunState,
  formatError,
} from '../../core/index.ts';
import {
  resolvePendingApprovals,
  listPendingApprovals,
  isAwaitingApproval,
  type ApprovalTarget,
  listApprovalChoices,
  parseApprovalAnswer,
  type ApprovalChoice,
} from '../../coding-agent/index.ts';

/** The work of a client call. It owns a session: close it when done. */
export type McpJob = ApprovalTarget & {
  /** Runs until it ends or needs an approval. */
  run(options: AdvanceOptions): Promise<RunState>;
  result(state: RunState): CallToolResult;
  close(): Promise<void>;
};

/** The contents of one client message. */
export type McpClientCall = {
  readonly context: ServerContext;
  /** The capabilities of the client. */
  readonly capabilities: ClientCapabilities | undefined;
  /** The exact call: an approval applies to no other. */
  readonly callKey: string;
  readonly start: () => Promise<McpJob>;
};

/** All pending calls. */
export type PendingCalls = {
  handle(round: McpClientCall): Promise<CallToolResult | InputRequiredResult>;
  /** Cancels calls that wait for an approval. */
  close(): Promise<void>;
};

const maxWaitMs = 10 * 60_000;

/** Creates a failed result. */
export const errorResult = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

/** Creates an empty set of pending calls. */
export function createPendingCalls(): PendingCalls {
  const waiting = new Map<string, { readonly job: McpJob; readonly mark: string; readonly late: NodeJS.Timeout }>();

  function wait(job: McpJob, { callKey, context }: McpClientCall, state: RunState): InputRequiredResult {
    const token = crypto.randomUUID();
    const giveUp = (): void => void take(token)?.job.close();
    waiting.set(token, { job, mark: callKey, late: setTimeout(giveUp, maxWaitMs).unref() });
    // Over HTTP the request ends with the question; on other transports its end means cancel.
    if (!context.http) context.mcpReq.signal.addEventListener('abort', giveUp, { once: true });
    const questions = listPendingApprovals(state).map(
      (call) => [call.id, toElicitation(call, listApprovalChoices(call, job.agent.grantKey(call)))] as const,
    );
    return inputRequired({ inputRequests: Object.fromEntries(questions), requestState: token });
  }

  /** Takes the pending call of a token; a token is valid once. */
  function take(token: string): { readonly job: McpJob; readonly mark: string } | undefined {
    const found = waiting.get(token);
    waiting.delete(token);
    clearTimeout(found?.late);
    return found;
  }

  async function jobFor({ context, callKey, start }: McpClientCall): Promise<McpJob> {
    const token = context.mcpReq.requestState<string>();
    if (token === undefined) return start();
    const found = take(token);
    if (found?.mark !== callKey) {
      await found?.job.close();
      throw new FairleadError('mcp/no-question', 'No question of this call is open, so nothing was run.', {
        blame: 'user',
        hint: 'Make the call again.',
      });
    }
    const { inputResponses } = context.mcpReq;
    await resolvePendingApprovals(found.job, found.job.session.state, async ({ id }, _kind, choices) =>
      parseApprovalAnswer(choices, 'answer', acceptedContent(inputResponses, id)?.['answer']),
    );
    return found.job;
  }

  return {
    async handle(round) {
      let job: McpJob | undefined;
      try {
        job = await jobFor(round);
        const state = await runWithProgress(job, round.context);
        if (isAwaitingApproval(state) && canElicit(round)) {
          const asked = wait(job, round, state);
          job = undefined;
          return asked;
        }
        return job.result(state);
      } catch (error) {
        return errorResult(error instanceof Error ? formatError(error) : errorMessage(error));
      } finally {
        await job?.close();
      }
    },
    async close() {
      await Promise.all([...waiting.keys()].map(async (token) => take(token)?.job.close()));
    },
  };
}

/** Returns true if the client supports elicitation. */
function canElicit({ context, capabilities }: Pick<McpClientCall, 'context' | 'capabilities'>): boolean {
  // Newer clients send it with each message; the SDK's types lack that key.
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const said = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? capabilities;
  const elicitation = isObject(said) ? said['elicitation'] : undefined;
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

const toElicitation = (
  { tool, ask }: ToolCall,
  choices: readonly ApprovalChoice[],
): ReturnType<typeof inputRequired.elicit> =>
  inputRequired.elicit({
    message: `${ask?.kind === 'unknown-outcome' ? `Run ${tool} again` : `Allow ${tool}`}?\n${escapeInvisible(ask?.question ?? '')}`,
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: 'Answer',
          enum: choices.map(({ answer }) => answer),
          description: choices.map(({ answer, label }) => `${answer}: ${label}`).join('; '),
        },
      },
      required: ['answer'],
    },
  });

/** Runs the work and sends progress if the client asked for it. */
async function runWithProgress(job: McpJob, { mcpReq }: ServerContext): Promise<RunState> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  const tell = (message: string): void => {
    if (progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message };
    // A closed connection is detected elsewhere.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const unwatch = job.session.subscribe((event) => {
    const news = formatProgress(event);
    if (news !== undefined) tell(news);
  });
  try {
    return await job.run({ signal: mcpReq.signal });
  } finally {
    unwatch();
  }
}

function formatProgress(event: Event): string | undefined {
  if (event.type === 'turn-started') return `turn ${event.turn}`;
  return event.type === 'tool-started' ? event.tool : undefined;
}
