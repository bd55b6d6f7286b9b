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
import { isAwaitingApproval, type ApprovalLoopOptions, type Session } from '../../agent/index.ts';
import {
  FairleadError,
  isObject,
  errorMessage,
  parseTraceContext,
  pendingApprovals,
  type ApprovalHandler,
  type Event,
  type RunState,
  formatError,
} from '../../core/index.ts';
import {
  createApprovalHandler,
  createApprovalPrompt,
  parseApprovalAnswer,
  type ApprovalPrompt,
  type GrantContext,
  formatApprovalDetail,
} from '../../coding-agent/index.ts';

/** The work of a client call. It owns a session: close it when done. */
export type McpJob = GrantContext & {
  readonly session: Session;
  /** Runs until it ends or needs an approval that the handler does not decide. */
  run(options: Pick<ApprovalLoopOptions, 'signal' | 'onApproval' | 'trace'>): Promise<RunState>;
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
  handle(call: McpClientCall): Promise<CallToolResult | InputRequiredResult>;
  /** Cancels calls that wait for an approval. */
  close(): Promise<void>;
};

const maxWaitMs = 10 * 60_000;

/** Creates a failed result. */
export const errorResult = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

/** Creates an empty set of pending calls. */
export function createPendingCalls(): PendingCalls {
  const waiting = new Map<string, { readonly job: McpJob; readonly callKey: string; readonly timer: NodeJS.Timeout }>();

  async function wait(job: McpJob, { callKey, context }: McpClientCall, state: RunState): Promise<InputRequiredResult> {
    const token = crypto.randomUUID();
    const cancelCall = (): void => void take(token)?.job.close();
    waiting.set(token, { job, callKey, timer: setTimeout(cancelCall, maxWaitMs).unref() });
    // Over HTTP the request ends with the question; on other transports its end means cancel.
    if (!context.http) context.mcpReq.signal.addEventListener('abort', cancelCall, { once: true });
    const questions = await Promise.all(
      pendingApprovals(state).map(
        async (pending) => [pending.id, toElicitation(await createApprovalPrompt(job, pending))] as const,
      ),
    );
    return inputRequired({ inputRequests: Object.fromEntries(questions), requestState: token });
  }

  /** Takes the pending call of a token; a token is valid once. */
  function take(token: string): { readonly job: McpJob; readonly callKey: string } | undefined {
    const pendingCall = waiting.get(token);
    waiting.delete(token);
    clearTimeout(pendingCall?.timer);
    return pendingCall;
  }

  /** The job of a call, and the handler that gives it the answers of the client to the questions of the previous round. */
  async function jobFor({ context, callKey, start }: McpClientCall): Promise<[McpJob, ApprovalHandler?]> {
    const token = context.mcpReq.requestState<string>();
    if (token === undefined) return [await start()];
    const pendingCall = take(token);
    if (pendingCall?.callKey !== callKey) {
      await pendingCall?.job.close();
      throw new FairleadError('mcp/no-question', 'No question of this call is open, so nothing was run.', {
        blame: 'user',
        hint: 'Make the call again.',
      });
    }
    const { inputResponses } = context.mcpReq;
    const askedIds = new Set(pendingApprovals(pendingCall.job.session.state).map(({ id }) => id));
    const onApproval = createApprovalHandler(pendingCall.job, async ({ id, choices }) =>
      askedIds.has(id)
        ? parseApprovalAnswer(choices, 'answer', acceptedContent(inputResponses, id)?.['answer'])
        : undefined,
    );
    return [pendingCall.job, onApproval];
  }

  return {
    async handle(call) {
      let job: McpJob | undefined;
      try {
        const [callJob, onApproval] = await jobFor(call);
        job = callJob;
        const state = await runWithProgress(job, call.context, onApproval);
        if (isAwaitingApproval(state) && canElicit(call)) {
          const inputRequest = await wait(job, call, state);
          job = undefined;
          return inputRequest;
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
  const clientCapabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? capabilities;
  const elicitation = isObject(clientCapabilities) ? clientCapabilities['elicitation'] : undefined;
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

const toElicitation = (prompt: ApprovalPrompt): ReturnType<typeof inputRequired.elicit> =>
  inputRequired.elicit({
    message: `${prompt.title}\n${formatApprovalDetail(prompt)}`,
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: 'Answer',
          enum: prompt.choices.map(({ answer }) => answer),
          description: prompt.choices.map(({ answer, label }) => `${answer}: ${label}`).join('; '),
        },
      },
      required: ['answer'],
    },
  });

/** Runs the work and sends progress if the client asked for it. */
async function runWithProgress(
  job: McpJob,
  { mcpReq }: ServerContext,
  onApproval: ApprovalHandler | undefined,
): Promise<RunState> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  const sendProgress = (message: string): void => {
    if (progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message };
    // A closed connection is detected elsewhere.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const unsubscribe = job.session.subscribe((event) => {
    const message = formatProgress(event);
    if (message !== undefined) sendProgress(message);
  });
  try {
    const { traceparent, tracestate } = (mcpReq._meta ?? {}) as Readonly<Record<string, unknown>>;
    const trace = parseTraceContext(traceparent, tracestate);
    return await job.run({ signal: mcpReq.signal, onApproval, ...(trace ? { trace } : {}) });
  } finally {
    unsubscribe();
  }
}

function formatProgress(event: Event): string | undefined {
  if (event.type === 'turn-started') return `turn ${event.turn}`;
  return event.type === 'tool-started' ? event.tool : undefined;
}
