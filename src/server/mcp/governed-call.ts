// Runs one tool call of an MCP client as a run whose only response is that call, so that all gates and limits apply.
import { Session, continueWithApprovals, runWithApprovals } from '../../agent/index.ts';
import {
  isObject,
  messageText,
  pendingApprovals,
  toArray,
  toJson,
  type ToolCallPart,
  type Event,
  type Json,
  type Message,
  type Provider,
  type Tool,
} from '../../core/index.ts';
import { quarantineView, type Grants } from '../../guards/index.ts';
import { memoryLog } from '../../stores/index.ts';
import type { CodingAgent } from '../../coding-agent/index.ts';
import { toolLabels } from './flow-labels.ts';
import { readQuarantinedName, type QuarantinedResults } from './quarantined-results.ts';
import { errorResult, type McpJob } from './pending-calls.ts';

/** Starts a call of one of the agent's tools. */
export async function startToolCall(
  agent: CodingAgent,
  grants: Grants,
  results: QuarantinedResults,
  called: Tool,
  input: Json,
): Promise<McpJob> {
  const { name: tool } = called;
  const parts = agent.forModel(createCallProvider({ type: 'tool-call', id: 'call', tool, input }), true);
  // Clients see all tools, so deferred tools are listed directly.
  const tools = new Map([...parts.tools].map(([name, each]) => [name, { ...each, deferred: false }]));
  // There is no model, so only gates apply: no reminders and no checks.
  const session = await Session.open({ ...parts, tools, rules: [], reminders: [], checks: [] }, memoryLog());
  const held = isObject(input) && tool === readQuarantinedName ? results.find(input['from']) : [];
  if (held.length > 0) await session.annotate(quarantineView.name, toJson(held));
  let ended: (Event & { readonly type: 'tool-ended' }) | undefined;
  session.subscribe((event) => {
    if (event.type === 'tool-ended') ended = event;
  });
  return {
    session,
    grants,
    agent,
    run: (options) =>
      session.state.run === undefined
        ? runWithApprovals(session, tool, options)
        : continueWithApprovals(session, session.state, options),
    result(state) {
      if (pendingApprovals(state).length > 0)
        return errorResult(
          `${tool} was not run: it needs approval, and this client cannot ask a user. Start the server with --allow-write to allow it.`,
        );
      if (!ended) return errorResult(`${tool} was not run: ${state.ended?.detail ?? 'it was cancelled.'}`);
      return {
        content: [{ type: 'text', text: results.keep(ended) }],
        ...(ended.outcome === 'ok' ? {} : { isError: true }),
        _meta: toolLabels(called),
      };
    },
    close: () => session.close(),
  };
}

const clientName = 'client';

/** A provider that returns the call, and an empty answer after its result. */
const createCallProvider = (call: ToolCallPart): Provider => ({
  family: clientName,
  model: clientName,
  price: { input: 0, output: 0 },
  async *stream({ messages }) {
    // A note can follow the result, so the last message alone is not enough.
    const done = toArray(messages).some(({ role }) => role === 'tool');
    const message: Message = { role: 'assistant', parts: done ? [{ type: 'text', text: 'Done.' }] : [call] };
    yield {
      type: 'end',
      message,
      finishReason: messageText(message) ? 'stop' : 'tool-calls',
      usage: { input: 0, output: 0 },
      model: clientName,
      usd: 0,
    };
  },
});
