// The `run_agent` tool of the MCP server: runs an agent on a session file, with the gates and limits of the terminal, and returns the answer and its cost.
import { formatRunEnd, toRunResult, createValidator } from '../../agent/index.ts';
import { FairleadError, type JsonObject } from '../../core/index.ts';
import { Conversation, type ConversationFlags, type ModelHost } from '../../coding-agent/index.ts';
import { resolveModelUnattended } from '../../coding-agent/models/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';
import type { McpJob } from './pending-calls.ts';
import { runAgentLabels } from './flow-labels.ts';

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
  input: RunAgentInput,
  serverFlags: ConversationFlags,
  settings: Settings,
  { host }: { readonly host: ModelHost },
): Promise<McpJob> {
  const problem = validateRunAgentInput(input);
  if (problem !== undefined)
    throw new FairleadError('mcp/bad-input', `The arguments do not fit, so nothing was run: ${problem}`, {
      blame: 'model',
    });
  const { prompt, session, model, max_turns: maxTurns } = input;
  const turns = Math.min(maxTurns ?? Number.POSITIVE_INFINITY, serverFlags.limits.turns ?? Number.POSITIVE_INFINITY);
  const flags: ConversationFlags = {
    ...serverFlags,
    model: model ?? serverFlags.model,
    limits: { ...serverFlags.limits, ...(Number.isFinite(turns) ? { turns } : {}) },
  };
  const conversation = await Conversation.open({
    settings,
    flags,
    selector: session === undefined ? { type: 'new' } : { type: 'resume', session },
    model: await resolveModelUnattended({ ...flags, isRequested: model !== undefined }, settings),
    host,
  });
  const runId = crypto.randomUUID();
  let isPromptSent = false;
  return {
    session: conversation.session,
    grants: conversation.grants,
    agent: conversation.agent,
    run(options) {
      const newPrompt = isPromptSent ? undefined : prompt;
      isPromptSent = true;
      return conversation.run(newPrompt, { ...options, runId });
    },
    result(state) {
      const runResult = toRunResult(state, { runId, sessionId: state.session });
      const isSuccess = runResult.status === 'success';
      return {
        content: [
          { type: 'text', text: isSuccess ? runResult.text : `${runResult.text}\n${formatRunEnd(runResult)}`.trim() },
        ],
        structuredContent: {
          answer: runResult.text,
          reason: runResult.reason,
          session: conversation.name,
          session_id: runResult.sessionId,
          model: conversation.model.name,
          turns: runResult.turns,
          usd: runResult.costUsd ?? null,
          input_tokens: runResult.usage.inputTokens,
          output_tokens: runResult.usage.outputTokens,
        },
        ...(isSuccess ? {} : { isError: true }),
        _meta: runAgentLabels,
      };
    },
    close: () => conversation.close(),
  };
}
