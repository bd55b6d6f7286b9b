// ACP version 1 client: sends updates, permission requests and options.
import {
  methods,
  type AgentContext,
  type PermissionOption,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { formatApprovalDetail, type Conversation } from '../../coding-agent/index.ts';
import { toUsageUpdate } from './handlers.ts';
import { toToolCallHeader, fenceMarkdown, toProposedChange, toTextContent } from './tool-calls.ts';
import { listAcpOptions, getApprovalMode, approvalModes } from './options.ts';
import { toPermissionOptions, requestPermission, yesNoOptions } from './permission.ts';
import type { AcpClient } from './acp-session.ts';
import { createV1Updates } from './v1-updates.ts';

/** Sends updates of a session in order. A closed connection is detected elsewhere. */
export const createV1Updater =
  (client: AgentContext, sessionId: string) =>
  (update: SessionUpdate): void =>
    void client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);

/** Creates the client of a session. */
export function createV1Client(
  client: AgentContext,
  sessionId: string,
  conversation: Conversation,
  notices: boolean,
): AcpClient {
  const send = createV1Updater(client, sessionId);
  const locate = (path: string): string => conversation.agent.workspace.locate(path);
  const permit = (toolCall: ToolCallUpdate, options: PermissionOption[], signal: AbortSignal) =>
    requestPermission(signal, options, (how) =>
      client.request(methods.client.session.requestPermission, { sessionId, toolCall, options }, how),
    );
  return {
    transcript: createV1Updates(send, { notices, locate }),
    echoesInput: false,
    ask(prompt, signal) {
      const content = [...toProposedChange(prompt, locate), toTextContent(fenceMarkdown(formatApprovalDetail(prompt)))];
      return permit(
        { ...toToolCallHeader(prompt, locate), status: 'pending', content },
        toPermissionOptions(prompt.choices),
        signal,
      );
    },
    async confirm(title, detail, signal) {
      const content = [toTextContent(fenceMarkdown(detail))];
      const head = { toolCallId: crypto.randomUUID(), title, kind: 'other', status: 'pending' } as const;
      return (await permit({ ...head, content }, yesNoOptions(), signal)) === 'once';
    },
    sendStatus(status) {
      const usage = toUsageUpdate(status);
      if (usage) send(usage);
    },
    sendPlan: (entries) => send({ sessionUpdate: 'plan', entries }),
    sendCommands: (commands) =>
      send({
        sessionUpdate: 'available_commands_update',
        availableCommands: commands.map(({ name, description, argumentHint: hint }) => ({
          name,
          description,
          ...(hint === undefined ? {} : { input: { hint } }),
        })),
      }),
  };
}

/** Converts options to select options. */
export const toV1ConfigOptions = (conversation: Conversation): SessionConfigOption[] =>
  listAcpOptions(conversation).map((option) => ({ id: option.category, ...option }));

/** The state of a new session; modes are also sent for editors without option support. */
export function getV1SessionState(conversation: Conversation): {
  modes: SessionModeState;
  configOptions: SessionConfigOption[];
} {
  return {
    modes: {
      currentModeId: getApprovalMode(conversation),
      availableModes: approvalModes.map(({ value, ...mode }) => ({ id: value, ...mode })),
    },
    configOptions: toV1ConfigOptions(conversation),
  };
}
