// The `run_agent` tool: a whole agent run as an MCP tool call, with a session on disk, the same gates and limits as in the terminal, and its cost.
import { formatRunEnd, toRunResult, createValidator } from '../../agent/index.ts';
import { FairleadError, type JsonObject } from '../../core/index.ts';
import { Conversation, type ConversationFlags, type ModelHost } from '../../coding-agent/index.ts';
import { resolveModelUnattended } from '../../coding-agent/models/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import type { McpJob } from './pending-calls.ts';

/** The input of `run_agent`. */
export type RunAgentInput = JsonObject & {
  readonly prompt: string;
  /** A session to continue, by name or id; default a new one. */
  readonly session?: string;
  readonly model?: string;
  readonly max_turns?: number;
};

/** The input schema of `run_agent`. */
export const runAgentInputSchema: JsonObject = {
  type: 'object',
  properties: {
    prompt: { type: 'string', minLength: 1, description: 'What the agent is to do.' },
    session: { type: 'string', description: 'The name or id of a session to continue; a new session by default.' },
    model: { type: 'string', description: 'The model that answers; the usual one unless given.' },
    max_turns: { type: 'integer', minimum: 1, description: 'Model turns the run may take at most.' },
  },
  required: ['prompt'],
  additionalProperties: false,
};

const validateRunAgentInput = createValidator(runAgentInputSchema);

/** The output schema of `run_agent`. */
export const runAgentOutputSchema: JsonObject = {
  type: 'object',
  properties: {
    answer: { type: 'string' },
    reason: { type: 'string', description: 'Why the run ended: answered, max-turns, waiting and so on.' },
    session: { type: 'string', description: 'The name of the session, to continue it.' },
    session_id: { type: 'string' },
    model: { type: 'string' },
    turns: { type: 'integer' },
    usd: { type: ['number', 'null'], description: 'What it cost in US dollars; null where that is unknown.' },
    input_tokens: { type: 'integer' },
    output_tokens: { type: 'integer' },
  },
  required: ['answer', 'reason', 'session', 'session_id', 'model', 'turns', 'usd', 'input_tokens', 'output_tokens'],
};

/** Starts a run or continues a session. A client can lower the server's turn limit, not raise it. */
export async function startAgentRun(
  wish: RunAgentInput,
  base: ConversationFlags,
  settings: Settings,
  { notify, host }: { readonly notify: (text: string) => void; readonly host: ModelHost },
): Promise<McpJob> {
  const wrong = validateRunAgentInput(wish);
  if (wrong !== undefined)
    throw new FairleadError('mcp/bad-input', `The arguments do not fit, so nothing was run: ${wrong}`, {
      blame: 'model',
    });
  const { prompt, session, model, max_turns: most } = wish;
  const turns = Math.min(most ?? Number.POSITIVE_INFINITY, base.limits.turns ?? Number.POSITIVE_INFINITY);
  const asked: ConversationFlags = {
    ...base,
    model: model ?? base.model,
    limits: { ...base.limits, ...(Number.isFinite(turns) ? { turns } : {}) },
  };
  const talk = await Conversation.open({
    settings,
    flags: asked,
    selector: session === undefined ? { type: 'new' } : { type: 'resume', session },
    model: await resolveModelUnattended(asked, settings, notify),
    host,
  });
  const runId = crypto.randomUUID();
  let said = false;
  return {
    session: talk.session,
    grants: talk.grants,
    agent: talk.agent,
    run(options) {
      const words = said ? undefined : prompt;
      said = true;
      return talk.run(words, { ...options, runId });
    },
    result(state) {
      const came = toRunResult(state, { runId, sessionId: state.session });
      const good = came.status === 'success';
      return {
        content: [{ type: 'text', text: good ? came.text : `${came.text}\n${formatRunEnd(came)}`.trim() }],
        structuredContent: {
          answer: came.text,
          reason: came.reason,
          session: talk.name,
          session_id: came.sessionId,
          model: talk.model.name,
          turns: came.turns,
          usd: came.costUsd ?? null,
          input_tokens: came.usage.inputTokens,
          output_tokens: came.usage.outputTokens,
        },
        ...(good ? {} : { isError: true }),
      };
    },
    close: () => talk.close(),
  };
}
