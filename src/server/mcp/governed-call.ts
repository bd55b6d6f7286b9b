// One call of a client, made the way a model's call is: a run whose only answer is that call, so that it is checked, judged, bounded and stopped like any other.
import { Session } from '../../agent/index.ts';
import {
  messageText,
  toArray,
  type ToolCallPart,
  type Event,
  type Json,
  type Message,
  type Provider,
} from '../../core/index.ts';
import type { Grants } from '../../guards/index.ts';
import { memoryLog } from '../../stores/memory.ts';
import { listPendingApprovals } from '../../coding-agent/approvals.ts';
import type { CodingAgent } from '../../coding-agent/create-agent.ts';
import { errorResult, type McpJob } from './pending-calls.ts';

/** Begins a call of one of the outfit's tools. */
export async function startToolCall(outfit: CodingAgent, grants: Grants, tool: string, input: Json): Promise<McpJob> {
  const parts = outfit.forModel(createCallProvider({ type: 'tool-call', id: 'call', tool, input }), true);
  // A client that lists the tools sees all of them: nothing has to be loaded.
  const tools = new Map([...parts.tools].map(([name, each]) => [name, { ...each, deferred: false }]));
  // Here is no model that could be reminded of something, or that could do better: guards hold, and nothing else.
  const session = await Session.open({ ...parts, tools, rules: [], reminders: [], checks: [] }, memoryLog());
  let ended: (Event & { readonly type: 'tool-ended' }) | undefined;
  session.subscribe((event) => {
    if (event.type === 'tool-ended') ended = event;
  });
  return {
    session,
    grants,
    agent: outfit,
    run: (options) => session.advance(session.state.run === undefined ? tool : undefined, options),
    result(state) {
      const [open] = listPendingApprovals(state);
      if (open)
        return errorResult(
          `${tool} was not run: it needs a person's yes, and this client cannot ask one. Start the server with --allow-write to allow it.`,
        );
      if (!ended) return errorResult(`${tool} was not run: ${state.ended?.detail ?? 'it was cancelled.'}`);
      return { content: [{ type: 'text', text: ended.text }], ...(ended.outcome === 'ok' ? {} : { isError: true }) };
    },
    close: () => session.close(),
  };
}

const clientName = 'client';

/** In the place of a model: says the call, and once there is a result nothing more. */
const createCallProvider = (call: ToolCallPart): Provider => ({
  family: clientName,
  model: clientName,
  price: { input: 0, output: 0 },
  async *stream({ messages }) {
    // A note may follow the result: the last message alone does not tell.
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
