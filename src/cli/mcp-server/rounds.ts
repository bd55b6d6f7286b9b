// How a call of a client is carried through: it runs until it ends or a person has to answer, and goes on when the client comes back with the answer.
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { RunOptions } from '../../agent/index.ts';
import {
  FairleadError,
  isObject,
  errorMessage,
  escapeInvisible,
  type ToolCall,
  type Event,
  type RunState,
} from '../../core/index.ts';
import { answerOpen, openAsks, waits, type Answerable } from '../conversation/asks.ts';
import { choicesFor, saidOf, type Choice } from '../conversation/choices.ts';
import { formatError } from '../front/sentence.ts';

/** Work that a call of a client began. It owns a session: close it when done. */
export type Job = Answerable & {
  /** Runs on until it ends or a person has to answer. */
  run(options: RunOptions): Promise<RunState>;
  result(state: RunState): CallToolResult;
  close(): Promise<void>;
};

/** What one message of a client brings. */
export type Round = {
  readonly context: ServerContext;
  /** What the client said of itself when it connected. */
  readonly can: ClientCapabilities | undefined;
  /** The exact call: the answer to a question counts for no other. */
  readonly mark: string;
  readonly begin: () => Promise<Job>;
};

/** Everything that is going on for clients. */
export type Rounds = {
  carry(round: Round): Promise<CallToolResult | InputRequiredResult>;
  /** Ends what waits for an answer. */
  close(): Promise<void>;
};

const longestWaitMs = 10 * 60_000;

/** A sentence as a result that failed. */
export const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

/** Nothing is going on to begin with. */
export function openRounds(): Rounds {
  const waiting = new Map<string, { readonly job: Job; readonly mark: string; readonly late: NodeJS.Timeout }>();

  function wait(job: Job, { mark, context }: Round, state: RunState): InputRequiredResult {
    const token = crypto.randomUUID();
    const giveUp = (): void => void take(token)?.job.close();
    waiting.set(token, { job, mark, late: setTimeout(giveUp, longestWaitMs).unref() });
    // Over HTTP the exchange ends with the question; elsewhere its end is a cancelled call.
    if (!context.http) context.mcpReq.signal.addEventListener('abort', giveUp, { once: true });
    const questions = openAsks(state).map(
      (call) => [call.id, question(call, choicesFor(call, job.outfit.kindOf(call)))] as const,
    );
    return inputRequired({ inputRequests: Object.fromEntries(questions), requestState: token });
  }

  /** What waited under this token; a token is good once. */
  function take(token: string): { readonly job: Job; readonly mark: string } | undefined {
    const found = waiting.get(token);
    waiting.delete(token);
    clearTimeout(found?.late);
    return found;
  }

  async function jobFor({ context, mark, begin }: Round): Promise<Job> {
    const token = context.mcpReq.requestState<string>();
    if (token === undefined) return begin();
    const found = take(token);
    if (found?.mark !== mark) {
      await found?.job.close();
      throw new FairleadError('mcp/no-question', 'No question of this call is open, so nothing was run.', {
        blame: 'user',
        hint: 'Make the call again.',
      });
    }
    const { inputResponses } = context.mcpReq;
    await answerOpen(found.job, found.job.session.state, async ({ id }, _kind, choices) =>
      saidOf(choices, 'said', acceptedContent(inputResponses, id)?.['answer']),
    );
    return found.job;
  }

  return {
    async carry(round) {
      let job: Job | undefined;
      try {
        job = await jobFor(round);
        const state = await runOn(job, round.context);
        if (waits(state) && canAsk(round)) {
          const asked = wait(job, round, state);
          job = undefined;
          return asked;
        }
        return job.result(state);
      } catch (error) {
        return failed(error instanceof Error ? formatError(error) : errorMessage(error));
      } finally {
        await job?.close();
      }
    },
    async close() {
      await Promise.all([...waiting.keys()].map(async (token) => take(token)?.job.close()));
    },
  };
}

/** Whether the person behind the client can be asked. */
function canAsk({ context, can }: Pick<Round, 'context' | 'can'>): boolean {
  // Clients of the newer protocol say it with each message; the SDK's type does not know that key.
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const said = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? can;
  const elicitation = isObject(said) ? said['elicitation'] : undefined;
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

const question = ({ tool, ask }: ToolCall, choices: readonly Choice[]): ReturnType<typeof inputRequired.elicit> =>
  inputRequired.elicit({
    message: `${ask?.kind === 'unknown-outcome' ? `Run ${tool} again` : `Allow ${tool}`}?\n${escapeInvisible(ask?.question ?? '')}`,
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: 'Answer',
          enum: choices.map(({ said }) => said),
          description: choices.map(({ said, label }) => `${said}: ${label}`).join('; '),
        },
      },
      required: ['answer'],
    },
  });

/** Runs a job and tells the client how far it is, if it wants to know. */
async function runOn(job: Job, { mcpReq }: ServerContext): Promise<RunState> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  const tell = (message: string): void => {
    if (progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message };
    // A client that no longer listens is noticed elsewhere.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const unwatch = job.session.subscribe((event) => {
    const news = newsOf(event);
    if (news !== undefined) tell(news);
  });
  try {
    return await job.run({ signal: mcpReq.signal });
  } finally {
    unwatch();
  }
}

function newsOf(event: Event): string | undefined {
  if (event.type === 'turn-started') return `turn ${event.turn}`;
  return event.type === 'tool-started' ? event.tool : undefined;
}
