// Calls a tool of an MCP server. Every failure becomes a sentence for the model; a call that may have been executed is never sent twice.
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  type CallToolResult,
  type Client,
} from '@modelcontextprotocol/client';
import {
  FairleadError,
  isObject,
  errorMessage,
  toolOutput,
  escapeInvisibleLine,
  type Json,
  type JsonObject,
  type ToolOutput,
  type ToolContext,
  type TraceContext,
} from '../../core/index.ts';
import type { McpConnection } from './connection.ts';
import { RESPONSE_LOST } from './http.ts';
import { mcpResultOutput } from './result.ts';

/** The tool to call, and its timeout. */
export type McpCallTarget = {
  readonly connection: McpConnection;
  readonly tool: string;
  readonly input: JsonObject;
  readonly timeoutMs: number;
  /** True if the call can be repeated without harm. */
  readonly isRepeatable: boolean;
  /** Returns why the tool may not be called, now that its server is connected; undefined if it may. */
  readonly refusalReason: () => string | undefined;
};

const maxTries = 2;
/** Progress extends the timeout, up to this factor. */
const maxTimeoutFactor = 10;

/** The call: the signal and the progress of the call, and the session whose trace the request carries. */
export type McpCaller = Pick<ToolContext, 'signal' | 'progress'> &
  Partial<Pick<ToolContext, 'agent' | 'state' | 'key'>>;

/** Calls the tool and returns its result. */
export async function callMcpTool(
  target: McpCallTarget,
  args: Json,
  { signal, progress, ...caller }: McpCaller,
): Promise<ToolOutput> {
  const trace = caller.state && caller.agent?.trace?.contextOf(caller.state, caller.key);
  for (let tried = 1; ; tried++) {
    let client: Client;
    try {
      client = await target.connection.client(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return notRunOutput(target, formatErrorWithHint(error));
    }
    const refusalReason = target.refusalReason();
    if (refusalReason !== undefined) return notRunOutput(target, refusalReason);
    try {
      const result = await sendToolCall(client, target, { args, trace }, signal, progress);
      target.connection.markHealthy();
      return mcpResultOutput(target.connection.server.name, result, caller.agent?.provider);
    } catch (error) {
      const fate = classifyCallFailure(error, signal);
      if (fate === 'answered')
        return toolOutput({ failed: true, text: `${serverLabel(target)} refused: ${formatErrorWithHint(error)}` });
      if (fate !== 'late') await target.connection.discard(client);
      // It was rejected before execution, so it is safe to send it again.
      if (fate === 'refused' && tried < maxTries && (await tryRenewAccess(target, error, signal))) continue;
      return fate === 'refused'
        ? notRunOutput(target, formatErrorWithHint(error))
        : unknownOutcomeOutput(target, formatErrorWithHint(error));
    }
  }
}

async function sendToolCall(
  client: Client,
  { connection, tool, input, timeoutMs }: McpCallTarget,
  { args, trace }: { readonly args: Json; readonly trace: TraceContext | undefined },
  signal: AbortSignal,
  progress: ToolContext['progress'],
): Promise<CallToolResult> {
  const patience = createProgressTimeout(timeoutMs, () => connection.hasPendingRequests());
  try {
    return await connection.during(client, () =>
      client.callTool(
        { name: tool, arguments: args as Record<string, unknown>, ...(trace ? { _meta: { ...trace } } : {}) },
        {
          signal: AbortSignal.any([signal, patience.signal]),
          // The time that the user takes to answer the server does not count: our own timeout knows about it.
          timeout: 2 ** 31 - 1,
          onprogress: ({ message, progress: done, total }) => {
            patience.renew();
            const part = `${done}${total === undefined ? '' : ` of ${total}`}`;
            progress?.(`${message === undefined ? part : escapeInvisibleLine(message)}\n`);
          },
          // Given here, so that the library does not validate results against the server's schema.
          toolDefinition: { name: tool, inputSchema: input as { type: 'object' } },
        },
      ),
    );
  } finally {
    patience.clear();
  }
}

type ProgressTimeout = { readonly signal: AbortSignal; renew(): void; clear(): void };

/** Aborts after this long without progress. Progress and pending requests of the server extend it, up to a limit. */
function createProgressTimeout(ms: number, isAsking: () => boolean): ProgressTimeout {
  const callController = new AbortController();
  let remainingExtensions = maxTimeoutFactor;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    timer = setTimeout(() => (isAsking() ? wait() : callController.abort(timeoutError(ms))), Math.min(ms, 2 ** 31 - 1));
  };
  wait();
  return {
    signal: callController.signal,
    renew() {
      if (--remainingExtensions <= 0) return;
      clearTimeout(timer);
      wait();
    },
    clear: () => clearTimeout(timer),
  };
}

const timeoutError = (ms: number): FairleadError =>
  new FairleadError('mcp/late', `it did not respond within ${ms} ms`, { blame: 'tool' });

/** The kind of failure of a call: the server responded with an error, rejected it before execution, timed out, or the connection broke. In the last two cases it is unknown whether it was executed. */
type CallFailureKind = 'answered' | 'refused' | 'late' | 'broken';

const unsentErrorCodes: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

function classifyCallFailure(error: unknown, signal: AbortSignal): CallFailureKind {
  if (signal.aborted || (error instanceof FairleadError && error.code === 'mcp/late')) return 'late';
  if (UnauthorizedError.isInstance(error)) return 'refused';
  if (SdkHttpError.isInstance(error)) return error.status < 500 ? 'refused' : 'broken';
  if (SdkError.isInstance(error)) {
    return error.code === SdkErrorCode.NotConnected ? 'refused' : 'broken';
  }
  if (ProtocolError.isInstance(error)) return error.code === RESPONSE_LOST ? 'broken' : 'answered';
  return wasNotSent(error) ? 'refused' : 'broken';
}

/** Returns true if the root cause says that the request was never sent. */
function wasNotSent(error: unknown): boolean {
  const { cause, code } = isObject(error) ? error : {};
  return unsentErrorCodes.includes(String(code)) || (cause !== undefined && wasNotSent(cause));
}

/** Returns true if a rejected call may succeed now: after a login, or in a new session if the server lost the old one. */
async function tryRenewAccess({ connection }: McpCallTarget, error: unknown, signal: AbortSignal): Promise<boolean> {
  if (UnauthorizedError.isInstance(error)) return connection.awaitLogin(signal);
  if (SdkHttpError.isInstance(error)) return error.status === 404 || error.status === 400;
  return SdkError.isInstance(error) && error.code === SdkErrorCode.NotConnected;
}

const serverLabel = ({ connection }: McpCallTarget): string =>
  `The MCP server ${escapeInvisibleLine(connection.server.name)}`;

const formatErrorWithHint = (error: unknown): string => {
  const hint = error instanceof FairleadError && error.hint !== undefined ? ` ${error.hint}` : '';
  return `${escapeInvisibleLine(errorMessage(error)).slice(0, 1000)}${hint}`;
};

const notRunOutput = (target: McpCallTarget, why: string): ToolOutput =>
  toolOutput({ failed: true, text: `${escapeInvisibleLine(target.tool)} was not run: ${why}` });

function unknownOutcomeOutput(target: McpCallTarget, why: string): ToolOutput {
  const text = `${serverLabel(target)} did not respond to ${escapeInvisibleLine(target.tool)}: ${why}.`;
  if (target.isRepeatable) return toolOutput({ failed: true, text });
  return toolOutput({
    failed: true,
    outcomeUnknown: true,
    text: `${text} It may or may not have been executed, and was not sent again. Find out before you repeat it.`,
  });
}
