// An editor that speaks version 1: how it is told, asked, and shown what can be chosen.
import {
  methods,
  type AgentContext,
  type PermissionOption,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { Conversation } from '../conversation/conversation.ts';
import { usageIn } from './both-versions.ts';
import { callHead, fenced, proposed, textContent } from './calls.ts';
import { choicesOf, modeOf, modes } from './options.ts';
import { answersFor, leftBy, saidBy, yesOrNo } from './permission.ts';
import type { Editor } from './seat.ts';
import { v1Face } from './v1-face.ts';

/** Sends updates of a session in order. An editor that is gone is noticed elsewhere. */
export const updater =
  (client: AgentContext, sessionId: string) =>
  (update: SessionUpdate): void =>
    void client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);

/** The editor's side of a session. */
export function v1Editor(client: AgentContext, sessionId: string, talk: Conversation, notices: boolean): Editor {
  const send = updater(client, sessionId);
  const locate = (path: string): string => talk.outfit.workspace.locate(path);
  const permit = (toolCall: ToolCallUpdate, options: PermissionOption[], signal: AbortSignal) =>
    leftBy(signal, async () => {
      const { outcome } = await client.request(
        methods.client.session.requestPermission,
        { sessionId, toolCall, options },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      return outcome.outcome === 'cancelled' ? undefined : saidBy(outcome.optionId);
    });
  return {
    face: v1Face(send, { notices, locate }),
    echoes: false,
    ask(call, choices, signal) {
      const content = [...proposed(call, locate), textContent(fenced(call.ask?.question ?? ''))];
      return permit({ ...callHead(call, locate), status: 'pending', content }, answersFor(choices), signal);
    },
    async agrees(title, detail, signal) {
      const content = [textContent(fenced(detail))];
      const head = { toolCallId: crypto.randomUUID(), title, kind: 'other', status: 'pending' } as const;
      return (await permit({ ...head, content }, yesOrNo(), signal)) === 'once';
    },
    status(status) {
      const usage = usageIn(status);
      if (usage) send(usage);
    },
    plan: (entries) => send({ sessionUpdate: 'plan', entries }),
    commands: (commands) =>
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

/** What can be chosen, as select options. */
export const configOptions = (talk: Conversation): SessionConfigOption[] =>
  choicesOf(talk).map(({ id, name, current, options }) => ({
    type: 'select',
    id,
    name,
    category: id,
    currentValue: current,
    options: options.map((option) => ({ ...option })),
  }));

/** How a session stands when it is opened; its modes also in the words of editors that know no options. */
export function standing(talk: Conversation): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
  return {
    modes: {
      currentModeId: modeOf(talk),
      availableModes: modes.map(({ value, ...mode }) => ({ id: value, ...mode })),
    },
    configOptions: configOptions(talk),
  };
}
