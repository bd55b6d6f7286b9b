// ACP version 1 agent: maps its requests to the session registry.
import {
  agent,
  methods,
  RequestError,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
} from '@agentclientprotocol/sdk';
import { startAcpSession, createAcpHandlers, resumeAcpSession } from './handlers.ts';
import { toAcpStopReason, withRequestErrors } from './errors.ts';
import { setAcpOption, getApprovalMode } from './options.ts';
import type { CreateAcpClient, AcpSessionRegistry } from './session-registry.ts';
import { toV1ConfigOptions, getV1SessionState, createV1Updater, createV1Client } from './v1-client.ts';
import { getPromptContext, parsePromptContent } from './prompt-content.ts';

/** Creates an ACP version 1 agent. */
export function createV1Agent(registry: AcpSessionRegistry, version: string): AgentApp {
  const { session } = methods.agent;
  const { list, close, remove, cancel } = createAcpHandlers(registry);
  let capabilities: ClientCapabilities = {};
  const clientFactory =
    (client: AgentContext): CreateAcpClient =>
    (id, conversation) =>
      createV1Client(client, id, conversation, Boolean(capabilities.session?.notices));
  return agent({ name: 'fairlead' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: 1,
        agentInfo: { name: 'fairlead', title: 'Fairlead', version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(
      methods.agent.authenticate,
      withRequestErrors(() => ({})),
    )
    .onRequest(
      session.new,
      withRequestErrors(async ({ params, client }) => {
        const { id, session } = await startAcpSession(registry, params, clientFactory(client));
        return { sessionId: id, ...getV1SessionState(session.conversation) };
      }),
    )
    .onRequest(
      session.load,
      withRequestErrors(async ({ params, client }) =>
        getV1SessionState(
          (await resumeAcpSession(registry, params, clientFactory(client), (acpSession) => acpSession.replay()))
            .conversation,
        ),
      ),
    )
    .onRequest(
      session.resume,
      withRequestErrors(async ({ params, client }) =>
        getV1SessionState((await resumeAcpSession(registry, params, clientFactory(client))).conversation),
      ),
    )
    .onRequest(session.list, list)
    .onRequest(session.close, close)
    .onRequest(session.delete, remove)
    .onRequest(
      session.setMode,
      withRequestErrors(async ({ params: { sessionId, modeId } }) => {
        await setAcpOption(registry.get(sessionId).conversation, 'mode', modeId);
        return {};
      }),
    )
    .onRequest(
      session.setConfigOption,
      withRequestErrors(async ({ params: { sessionId, configId, value }, client }) => {
        const { conversation } = registry.get(sessionId);
        await setAcpOption(conversation, configId, value);
        if (configId === 'mode')
          createV1Updater(
            client,
            sessionId,
          )({ sessionUpdate: 'current_mode_update', currentModeId: getApprovalMode(conversation) });
        return { configOptions: toV1ConfigOptions(conversation) };
      }),
    )
    .onRequest(
      session.prompt,
      withRequestErrors(async ({ params: { sessionId, prompt }, signal }) => {
        const acpSession = registry.get(sessionId);
        // An editor can also cancel the request itself.
        signal.addEventListener('abort', () => acpSession.cancel(), { once: true });
        const stop = toAcpStopReason(
          await acpSession.prompt(parsePromptContent(prompt, getPromptContext(acpSession.conversation))),
        );
        if (stop instanceof RequestError) throw stop;
        return { stopReason: stop };
      }),
    )
    .onNotification(session.cancel, cancel);
}
