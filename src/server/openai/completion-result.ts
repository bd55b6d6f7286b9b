// How a run came out, as far as a client is told: words, a refusal, calls that it is to make itself, or why there is nothing.
import type { FleetRun, ClientToolCall, JsonObject } from '../../core/index.ts';
import { getClientOptions } from '../../fleet/index.ts';
import { createHttpError } from '../http/errors.ts';
import type { ServerContext } from '../http/context.ts';
import { withSessionReader } from '../http/session-reader.ts';
import type { ResponseFormat } from './response-format.ts';

/** What a client is told at the end. */
export type CompletionResult = {
  readonly run: FleetRun;
  readonly text: string;
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  /** What the model said instead of an answer. */
  readonly refusal?: string;
  /** The calls of its own tools, which the client makes. */
  readonly calls: readonly ClientToolCall[];
};

/** What is told of a run that has ended or rests; throws where there is nothing to tell. */
export async function createCompletionResult(
  { store }: Pick<ServerContext, 'store'>,
  run: FleetRun,
  format: ResponseFormat | undefined,
  cut: (text: string) => string,
): Promise<CompletionResult> {
  const { outcome } = run;
  const told = { run, calls: [] };
  if (run.status === 'waiting') throw createWaitingError(run);
  const { reason, text = '', clientToolCalls: handed = [] } = outcome ?? {};
  if (handed.length > 0) return { ...told, text: cut(text), finish: 'tool_calls', calls: handed };
  // A client that insists on a call has no use for words.
  if (getClientOptions(run.settings).choice !== undefined && reason === 'abstained')
    throw createNoAnswerError(run, undefined);
  if (reason === 'answered' || reason === 'task-complete')
    return { ...told, text: format ? format.normalize(cut(text)) : cut(text), finish: 'stop' };
  if (reason === 'abstained' && text !== '')
    return format ? { ...told, text: '', refusal: text, finish: 'stop' } : { ...told, text: cut(text), finish: 'stop' };
  if (reason === 'truncated' || (isLimitReason(reason ?? '') && text !== ''))
    return { ...told, text: cut(text), finish: 'length' };
  const trouble = await findLastError(store, run);
  if (reason === 'error-threshold' && trouble === 'refused')
    return { ...told, text: '', refusal: text || 'The model refused to answer.', finish: 'stop' };
  if (reason === 'error-threshold' && trouble === 'filtered') return { ...told, text: '', finish: 'content_filter' };
  throw createNoAnswerError(run, trouble);
}

const isLimitReason = (reason: string): boolean => /^(?:max-turns|time|.*-budget)$/.test(reason);

const createWaitingError = ({ id, pendingApprovals: questions, session }: FleetRun): Error =>
  createHttpError(
    'server/no-answer',
    `The run ${id} waits for a person: ${questions[0]?.question ?? 'it was put to rest.'}`,
    {
      hint: `Answer it on the page, or with POST /api/sessions/${session}/answer.`,
    },
  );

/** Ends that clients know by a status of their own. */
const codeMapping: Readonly<Record<string, readonly [code: `server/${string}`, param?: string]>> = {
  'cli/unknown-model': ['server/no-model', 'model'],
  'provider/not-found': ['server/no-model', 'model'],
  'tool/bad-definition': ['server/bad-request', 'tools'],
  'provider/rate-limited': ['server/too-many'],
  'provider/context-too-long': ['server/too-long'],
  'run/money-budget': ['server/no-money'],
  'run/token-budget': ['server/no-money'],
  'cli/no-calls': ['server/bad-request', 'tools'],
};

function createNoAnswerError({ id, status, outcome }: FleetRun, trouble: string | undefined): Error {
  const { error, detail, reason = status } = outcome ?? {};
  const why = error?.message ?? detail ?? 'It gave no answer.';
  const [code, param] = codeMapping[error?.code ?? trouble ?? ''] ?? ['server/no-answer'];
  const hint = error?.hint;
  return createHttpError(code, code === 'server/no-answer' ? `The run ${id} ended (${reason}): ${why}` : why, {
    ...(param === undefined ? {} : { param }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** What went wrong last in a run: why an answer was not accepted, or the code of what it failed with. */
async function findLastError(store: ServerContext['store'], { session }: FleetRun): Promise<string | undefined> {
  const read = withSessionReader(store, session, async (log) => {
    let trouble: string | undefined;
    for await (const events of log.read({ from: 'epoch' }))
      for (const event of events) {
        if (event.type === 'run-started') trouble = undefined;
        if (event.type === 'answer-rejected') trouble = event.why;
        if (event.type === 'turn-failed') trouble = event.error.code;
      }
    return trouble;
  });
  // A run that could not even be begun has no session.
  return read.catch(() => undefined);
}

/** What a run used up, in the words of one of the endpoints. */
export function formatUsage(
  { outcome }: FleetRun,
  names: { readonly input: string; readonly output: string },
): JsonObject {
  const { input, output, cacheRead } = outcome?.spent ?? { input: 0, output: 0, cacheRead: 0 };
  return {
    [names.input]: input,
    [names.output]: output,
    total_tokens: input + output,
    [`${names.input}_details`]: { cached_tokens: cacheRead },
    [`${names.output}_details`]: { reasoning_tokens: 0 },
  };
}
