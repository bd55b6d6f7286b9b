// Version 1 of the protocol: its requests as what the seats can do.
import {
  agent,
  methods,
  RequestError,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
} from '@agentclientprotocol/sdk';
import { version } from '../version.ts';
import { begun, handlersFor, resumed } from './both-versions.ts';
import { stopOf, told } from './faults.ts';
import { choose, modeOf } from './options.ts';
import type { EditorFor, Seats } from './seats.ts';
import { configOptions, standing, updater, v1Editor } from './v1-editor.ts';
import { readingOf, wordsFrom } from './words.ts';

/** An agent that speaks version 1. */
export function v1Agent(seats: Seats): AgentApp {
  const { session } = methods.agent;
  const { list, close, remove, cancel } = handlersFor(seats);
  let can: ClientCapabilities = {};
  const editorFor =
    (client: AgentContext): EditorFor =>
    (id, talk) =>
      v1Editor(client, id, talk, Boolean(can.session?.notices));
  return agent({ name: 'fairlead' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      can = params.clientCapabilities ?? {};
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
      told(() => ({})),
    )
    .onRequest(
      session.new,
      told(async ({ params, client }) => {
        const { id, seat } = await begun(seats, params, editorFor(client));
        return { sessionId: id, ...standing(seat.talk) };
      }),
    )
    .onRequest(
      session.load,
      told(async ({ params, client }) =>
        standing((await resumed(seats, params, editorFor(client), (seat) => seat.replay())).talk),
      ),
    )
    .onRequest(
      session.resume,
      told(async ({ params, client }) => standing((await resumed(seats, params, editorFor(client))).talk)),
    )
    .onRequest(session.list, list)
    .onRequest(session.close, close)
    .onRequest(session.delete, remove)
    .onRequest(
      session.setMode,
      told(async ({ params: { sessionId, modeId } }) => {
        await choose(seats.at(sessionId).talk, 'mode', modeId);
        return {};
      }),
    )
    .onRequest(
      session.setConfigOption,
      told(async ({ params: { sessionId, configId, value }, client }) => {
        const { talk } = seats.at(sessionId);
        await choose(talk, configId, value);
        if (configId === 'mode')
          updater(client, sessionId)({ sessionUpdate: 'current_mode_update', currentModeId: modeOf(talk) });
        return { configOptions: configOptions(talk) };
      }),
    )
    .onRequest(
      session.prompt,
      told(async ({ params: { sessionId, prompt }, signal }) => {
        const seat = seats.at(sessionId);
        // An editor may also cancel the request itself.
        signal.addEventListener('abort', () => seat.cancel(), { once: true });
        const stop = stopOf(await seat.prompt(wordsFrom(prompt, readingOf(seat.talk))));
        if (stop instanceof RequestError) throw stop;
        return { stopReason: stop };
      }),
    )
    .onNotification(session.cancel, cancel);
}
