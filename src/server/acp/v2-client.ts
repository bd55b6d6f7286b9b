// ACP version 2 client: sends updates, permission requests and options.
import {
  methods,
  type AgentContext,
  type AvailableCommand,
  type RequestPermissionRequest,
  type SessionConfigOption,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/experimental/v2';
import type { UserCommand } from '../../agent/index.ts';
import { formatApprovalDetail, type Conversation } from '../../coding-agent/index.ts';
import { toUsageUpdate } from './handlers.ts';
import { toToolCallHeader } from './tool-calls.ts';
import { listAcpOptions } from './options.ts';
import { toPermissionOptions, requestPermission, yesNoOptions } from './permission.ts';
import type { AcpClient } from './acp-session.ts';
import { createV2Updates } from './v2-updates.ts';

/** The client of a session, with the ids of user messages. */
export type V2Client = AcpClient & {
  readonly send: (update: SessionUpdate) => void;
  /** Resolves with the id of the next user message. */
  nextMessageId(): { readonly id: Promise<string>; readonly forget: () => void };
};

/** Creates the client of a session. */
export function createV2Client(client: AgentContext, sessionId: string, conversation: Conversation): V2Client {
  const send = (update: SessionUpdate): void =>
    // A closed connection is detected elsewhere.
    void client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);
  const locate = (path: string): string => conversation.agent.workspace.locate(path);
  const waiting = new Set<(id: string) => void>();
  const onUserMessage = (id: string): void => {
    const [first] = waiting;
    if (!first) return;
    waiting.delete(first);
    first(id);
  };
  const permit = async (request: Omit<RequestPermissionRequest, 'sessionId'>, signal: AbortSignal) => {
    send({ sessionUpdate: 'state_update', state: 'requires_action' });
    const answer = await requestPermission(signal, request.options, (how) =>
      client.request(methods.client.session.requestPermission, { sessionId, ...request }, how),
    );
    send({ sessionUpdate: 'state_update', state: 'running' });
    return answer;
  };
  return {
    send,
    transcript: createV2Updates(send, { locate, onUserMessage }),
    echoesInput: true,
    nextMessageId() {
      const { promise, resolve } = Promise.withResolvers<string>();
      waiting.add(resolve);
      return { id: promise, forget: () => void waiting.delete(resolve) };
    },
    ask: (prompt, signal) =>
      permit(
        {
          title: prompt.title,
          description: formatApprovalDetail(prompt),
          subject: { type: 'tool_call', toolCall: toToolCallHeader(prompt, locate) },
          options: toPermissionOptions(prompt.choices),
        },
        signal,
      ),
    confirm: async (title, description, signal) =>
      (await permit({ title, description, options: yesNoOptions() }, signal)) === 'once',
    sendStatus(status) {
      const usage = toUsageUpdate(status);
      if (usage) send(usage);
    },
    sendPlan: (entries) => send({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'todo', entries } }),
    // They are sent when the session is opened.
    sendCommands() {},
  };
}

/** The user commands. */
export const toAvailableCommands = (commands: readonly UserCommand[]): AvailableCommand[] =>
  commands.map(({ name, description, argumentHint: hint }) => ({
    type: 'command',
    name,
    description,
    ...(hint === undefined ? {} : { input: { type: 'text', hint } }),
  }));

/** Converts options to select options. */
export const toV2ConfigOptions = (conversation: Conversation): SessionConfigOption[] =>
  listAcpOptions(conversation).map((option) => ({ configId: option.category, ...option }));
