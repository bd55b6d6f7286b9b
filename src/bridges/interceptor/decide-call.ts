// Decides about a call in another program's loop: evaluates the gates, asks the user, and records questions and answers.
import {
  evaluateGates,
  FairleadError,
  messageToolCalls,
  type Fact,
  type Json,
  type ResolvedAgent,
  type RunState,
  type ToolCall,
} from '../../core/index.ts';
import { maxResponseCalls } from '../../wire/index.ts';
import type { DeniedCall, InterceptedResponse } from './interceptor.ts';

/** Asks the user about a call. */
export type AskUser = (call: Pick<ToolCall, 'tool' | 'input'>, question: string) => Promise<boolean>;

/** What is needed to decide about a call. */
export type DecideContext = {
  readonly agent: ResolvedAgent;
  /** The state after the latest record. */
  readonly getState: () => RunState;
  readonly record: (facts: readonly Fact[]) => Promise<unknown>;
  readonly askUser: AskUser | undefined;
};

/** The caller runs what the model wrote, so a rewrite becomes a denial that asks the model to change the call. */
const formatRewriteRequest = ({ tool }: Pick<ToolCall, 'tool'>, input: Json): string =>
  `Call ${tool} with these arguments instead: ${JSON.stringify(input)}`;

/** Returns why a call may not run; undefined if it may. `recordAs` is its id in the log. */
export async function decideCallerCall(
  { agent, getState, record, askUser }: DecideContext,
  call: ToolCall,
  recordAs: string,
): Promise<DeniedCall | undefined> {
  const deny = (reason: string, by?: DeniedCall['by']): DeniedCall => ({
    id: call.id,
    tool: call.tool,
    reason,
    ...(by ? { by } : {}),
  });
  // A lenient client might parse arguments that JSON.parse rejects, so the gates could decide about other input.
  if (call.invalid !== undefined && agent.gates.length > 0)
    return deny('The arguments of this call are not JSON, so it was not made. Make it again with arguments that are.');
  let now = call;
  for (let questions = 0; questions < 8; questions++) {
    const ruling = await evaluateGates(agent, now, getState());
    if (ruling.type === 'allow')
      return ruling.input === call.input ? undefined : deny(formatRewriteRequest(call, ruling.input));
    if (ruling.type === 'deny') return deny(ruling.reason, ruling.by);
    const { question, by } = ruling;
    if (!askUser) return deny(`This call needs approval, and there is no user to ask: ${question}`, by);
    await record([{ type: 'approval-requested', call: recordAs, question, ...(by ? { by } : {}) }]);
    const allowed = await askUser(call, question);
    await record([{ type: 'approval-resolved', call: recordAs, allowed, by: 'user' }]);
    if (!allowed) return deny('Denied by user.', by);
    now = { ...now, granted: [...(now.granted ?? []), question] };
  }
  return deny('The gates keep asking about this call.');
}

/** Throws if a response has too many calls: the work for each call grows with their number. */
export function assertFewCalls({ message }: InterceptedResponse): void {
  if (messageToolCalls(message).length > maxResponseCalls)
    throw new FairleadError('bridge/too-many-calls', `The response has more than ${maxResponseCalls} tool calls.`, {
      blame: 'provider',
      hint: 'Ask for fewer tool calls at once.',
    });
}
