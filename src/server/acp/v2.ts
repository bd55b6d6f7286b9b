// ACP version 2 agent (draft): accepts a prompt at once and reports the run through updates.
import type { ContentBlock, RequestError } from '@agentclientprotocol/sdk';
import {
  agent,
  methods,
  type AgentApp,
  type AgentContext,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/experimental/v2';
import type { UserInput } from '../../agent/index.ts';
import type { RunState } from '../../core/index.ts';
import { startAcpSession, createAcpHandlers, resumeAcpSession } from './handlers.ts';
import { toRequestError, toAcpStopReason, withRequestErrors, type AcpStopReason } from './errors.ts';
import { setAcpOption } from './options.ts';
import type { AcpSession } from './acp-session.ts';
import type { CreateAcpClient, AcpSessionRegistry } from './session-registry.ts';
import { toAvailableCommands, toV2ConfigOptions, createV2Client, type V2Client } from './v2-client.ts';
import { getPromptContext, parsePromptContent } from './prompt-content.ts';

/** Creates an ACP version 2 agent. */
export function createV2Agent(registry: AcpSessionRegistry, version: string): AgentApp {
  const { session } = methods.agent;
  const { list, close, remove, cancel } = createAcpHandlers(registry);
  const editors = new Map<string, V2Client>();
  const clientFactory =
    (client: AgentContext): CreateAcpClient =>
    (id, conversation) => {
      const editor = createV2Client(client, id, conversation);
      editors.set(id, editor);
      return editor;
    };
  const toOpenResponse = ({ conversation }: AcpSession) => ({
    configOptions: toV2ConfigOptions(conversation),
    availableCommands: toAvailableCommands(conversation.agent.commands),
  });
  return agent({ name: 'fairlead' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 2,
      info: { name: 'fairlead', title: 'Fairlead', version },
      capabilities: {
        session: { prompt: { image: {}, embeddedContext: {} }, mcp: { stdio: {}, http: {} }, delete: {} },
      },
      authMethods: [],
    }))
    .onRequest(
      session.new,
      withRequestErrors(async ({ params, client }) => {
        const { id, session } = await startAcpSession(registry, params, clientFactory(client));
        return { sessionId: id, ...toOpenResponse(session) };
      }),
    )
    .onRequest(
      session.resume,
      withRequestErrors(async ({ params, client }) => {
        const { sessionId, replayFrom } = params;
        const acpSession = await resumeAcpSession(registry, params, clientFactory(client), async (resumed) => {
          if (replayFrom) await resumed.replay();
          editors.get(sessionId)?.send({ sessionUpdate: 'state_update', state: 'idle' });
        });
        return toOpenResponse(acpSession);
      }),
    )
    .onRequest(session.list, list)
    .onRequest(session.close, close)
    .onRequest(session.delete, remove)
    .onRequest(
      session.setConfigOption,
      withRequestErrors(async ({ params: { sessionId, configId, value } }) => {
        const { conversation } = registry.get(sessionId);
        await setAcpOption(conversation, configId, value);
        return { configOptions: toV2ConfigOptions(conversation) };
      }),
    )
    .onRequest(
      session.prompt,
      withRequestErrors(async ({ params: { sessionId, prompt } }) => {
        const acpSession = registry.get(sessionId);
        // Unknown content blocks are rejected.
        const input = parsePromptContent(prompt as readonly ContentBlock[], getPromptContext(acpSession.conversation));
        const editor = editors.get(sessionId) as V2Client;
        return { messageId: await insertPrompt(acpSession, editor, input) };
      }),
    )
    .onNotification(session.cancel, cancel);
}

/** Records a prompt and returns its id; the run continues in the background. */
async function insertPrompt(acpSession: AcpSession, editor: V2Client, input: UserInput): Promise<string> {
  const { id, forget } = editor.nextMessageId();
  try {
    if (acpSession.isRunning) {
      await acpSession.steer(input);
      return await id;
    }
    return await Promise.race([id, startRun(acpSession, editor, input).then(() => id)]);
  } finally {
    forget();
  }
}

/** Runs and reports the end. */
function startRun(acpSession: AcpSession, editor: V2Client, input: UserInput): Promise<RunState> {
  editor.send({ sessionUpdate: 'state_update', state: 'running' });
  const work = acpSession.prompt(input);
  void work.then(toAcpStopReason, toRequestError).then((stop) => editor.send(toStopUpdate(stop)));
  return work;
}

const idleState = { sessionUpdate: 'state_update', state: 'idle' } as const;
const stopUpdates: Readonly<Record<AcpStopReason, SessionUpdate>> = {
  end_turn: { ...idleState, stopReason: 'end_turn' },
  max_tokens: { ...idleState, stopReason: 'max_tokens' },
  max_turn_requests: { ...idleState, stopReason: 'max_turn_requests' },
  cancelled: { ...idleState, stopReason: 'cancelled' },
};

function toStopUpdate(stop: AcpStopReason | RequestError): SessionUpdate {
  if (typeof stop === 'string') return stopUpdates[stop];
  const { code, message } = stop;
  return { ...idleState, stopReason: 'error', error: { code, message } };
}
