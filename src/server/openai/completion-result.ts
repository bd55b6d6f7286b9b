// The result of a run as an OpenAI client gets it: text, a refusal, calls of client tools, or an error; and the ids of its calls.
import type { ClientToolCall, FinishReason, FleetRun, JsonObject, Usage } from '../../core/index.ts';
import { getClientOptions } from '../../fleet/index.ts';
import type { WireStreamEvent } from '../../wire/index.ts';
import type { ServerContext } from '../http/context.ts';
import { createHttpError, type HttpErrorResponse } from '../http/errors.ts';
import { withSessionReader } from '../../sessions/index.ts';
import type { ResponseFormat } from './parse-params.ts';

/** The result of a run. */
export type CompletionResult = {
  readonly run: FleetRun;
  readonly text: string;
  readonly finish: Extract<FinishReason, 'stop' | 'length' | 'tool-calls' | 'filtered'>;
  /** The text with which the model refused to answer. */
  readonly refusal?: string;
  /** The calls that the client must run. */
  readonly calls: readonly ClientToolCall[];
};

/** Writes the result of a run in the form of one endpoint. */
export type ResponseEncoder = {
  readonly encodeWhole: (result: CompletionResult) => JsonObject;
  readonly encodeStart: () => readonly WireStreamEvent[];
  readonly encodeDelta: (text: string) => readonly WireStreamEvent[];
  /** Ends a stream; the text of the result is what was streamed. */
  readonly encodeEnd: (result: CompletionResult) => readonly WireStreamEvent[];
  /** Ends a stream with an error. */
  readonly encodeError: (error: HttpErrorResponse) => WireStreamEvent;
};

/** Formats the id of a call for the client. It names the run, so that the output of the call finds it. */
export const formatCallId = ({ id }: Pick<FleetRun, 'id'>, call: string): string => `call_${id}_${call}`;

/** Parses a call id; undefined if this server did not create it. */
export function parseCallId(id: string): { readonly run: string; readonly call: string } | undefined {
  const [, run, call] = /^call_(.+)_(c[0-9a-z]{8})$/.exec(id) ?? [];
  return run === undefined || call === undefined ? undefined : { run, call };
}

/** Returns the usage of a run. */
export function getRunUsage({ outcome }: FleetRun): Required<Usage> {
  const { input, output, cacheRead } = outcome?.spent ?? { input: 0, output: 0, cacheRead: 0 };
  return { input, output, cacheRead, cacheWrite: 0, reasoning: 0 };
}

/** Creates the result of a run that has ended; throws if the run waits for approval or has no response. */
export async function createCompletionResult(
  { store }: Pick<ServerContext, 'store'>,
  run: FleetRun,
  format: ResponseFormat | undefined,
  applyStop: (text: string) => string,
): Promise<CompletionResult> {
  const base = { run, calls: [] };
  if (run.status === 'waiting') throw createWaitingError(run);
  const { reason, text = '', clientToolCalls: calls = [] } = run.outcome ?? {};
  if (calls.length > 0) return { run, text: applyStop(text), finish: 'tool-calls', calls };
  // A client that requires a call cannot use text.
  if (getClientOptions(run.settings).choice !== undefined && reason === 'abstained')
    throw createNoResponseError(run, undefined);
  if (reason === 'answered' || reason === 'task-complete') {
    const stopped = applyStop(text);
    return { ...base, text: format ? format.normalize(stopped) : stopped, finish: 'stop' };
  }
  if (reason === 'abstained' && text !== '')
    return format
      ? { ...base, text: '', refusal: text, finish: 'stop' }
      : { ...base, text: applyStop(text), finish: 'stop' };
  if (reason === 'truncated' || (isLimitReason(reason ?? '') && text !== ''))
    return { ...base, text: applyStop(text), finish: 'length' };
  const problem = await findLastProblem(store, run);
  if (reason === 'error-threshold' && problem === 'refused')
    return { ...base, text: '', refusal: text || 'The model refused to answer.', finish: 'stop' };
  if (reason === 'error-threshold' && problem === 'filtered') return { ...base, text: '', finish: 'filtered' };
  throw createNoResponseError(run, problem);
}

const isLimitReason = (reason: string): boolean => /^(?:max-turns|time|.*-budget)$/.test(reason);

const createWaitingError = ({ id, pendingApprovals, session }: FleetRun): Error =>
  createHttpError(
    'server/no-answer',
    `Run ${id} waits for approval: ${pendingApprovals[0]?.question ?? 'it was suspended.'}`,
    { hint: `Answer it on the dashboard, or with POST /api/sessions/${session}/answer.` },
  );

/** The errors of a run that clients know by a status of their own. */
const codeMapping: Readonly<Record<string, readonly [code: `server/${string}`, param?: string]>> = {
  'coding-agent/unknown-model': ['server/no-model', 'model'],
  'provider/not-found': ['server/no-model', 'model'],
  'tool/bad-definition': ['server/bad-request', 'tools'],
  'provider/rate-limited': ['server/too-many'],
  'provider/context-too-long': ['server/too-long'],
  'run/money-budget': ['server/no-money'],
  'run/token-budget': ['server/no-money'],
  'coding-agent/no-calls': ['server/bad-request', 'tools'],
};

function createNoResponseError({ id, status, outcome }: FleetRun, problem: string | undefined): Error {
  const { error, detail, reason = status } = outcome ?? {};
  const message = error?.message ?? detail ?? 'No response.';
  const [code, param] = codeMapping[error?.code ?? problem ?? ''] ?? ['server/no-answer'];
  const hint = error?.hint;
  return createHttpError(code, code === 'server/no-answer' ? `Run ${id} ended (${reason}): ${message}` : message, {
    ...(param === undefined ? {} : { param }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Returns the last problem of a run: why a response was rejected, or the error code of a failed turn. */
async function findLastProblem(store: ServerContext['store'], { session }: FleetRun): Promise<string | undefined> {
  const read = withSessionReader(store, session, async (log) => {
    let problem: string | undefined;
    for await (const events of log.read({ from: 'epoch' }))
      for (const event of events) {
        if (event.type === 'run-started') problem = undefined;
        if (event.type === 'answer-rejected') problem = event.why;
        if (event.type === 'turn-failed') problem = event.error.code;
      }
    return problem;
  });
  // A run that could not be started has no session.
  return read.catch(() => undefined);
}
