// Version 2 of the protocol, still a draft: a prompt is taken at once, and updates tell how its run goes and ends.
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
import { version } from '../version.ts';
import { begun, handlersFor, resumed } from './both-versions.ts';
import { requestError, stopOf, told, type Stopped } from './faults.ts';
import { choose } from './options.ts';
import type { Seat } from './seat.ts';
import type { EditorFor, Seats } from './seats.ts';
import { commandsOf, optionsOf, v2Editor, type V2Editor } from './v2-editor.ts';
import { readingOf, wordsFrom } from './words.ts';

/** An agent that speaks version 2. */
export function v2Agent(seats: Seats): AgentApp {
  const { session } = methods.agent;
  const { list, close, remove, cancel } = handlersFor(seats);
  const editors = new Map<string, V2Editor>();
  const editorFor =
    (client: AgentContext): EditorFor =>
    (id, talk) => {
      const editor = v2Editor(client, id, talk);
      editors.set(id, editor);
      return editor;
    };
  const opened = ({ talk }: Seat) => ({
    configOptions: optionsOf(talk),
    availableCommands: commandsOf(talk.outfit.commands),
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
      told(async ({ params, client }) => {
        const { id, seat } = await begun(seats, params, editorFor(client));
        return { sessionId: id, ...opened(seat) };
      }),
    )
    .onRequest(
      session.resume,
      told(async ({ params, client }) => {
        const { sessionId, replayFrom } = params;
        const seat = await resumed(seats, params, editorFor(client), async (found) => {
          if (replayFrom) await found.replay();
          editors.get(sessionId)?.send({ sessionUpdate: 'state_update', state: 'idle' });
        });
        return opened(seat);
      }),
    )
    .onRequest(session.list, list)
    .onRequest(session.close, close)
    .onRequest(session.delete, remove)
    .onRequest(
      session.setConfigOption,
      told(async ({ params: { sessionId, configId, value } }) => {
        const { talk } = seats.at(sessionId);
        await choose(talk, configId, value);
        return { configOptions: optionsOf(talk) };
      }),
    )
    .onRequest(
      session.prompt,
      told(async ({ params: { sessionId, prompt } }) => {
        const seat = seats.at(sessionId);
        // Blocks that only later versions know are refused like those that nobody can read.
        const words = wordsFrom(prompt as readonly ContentBlock[], readingOf(seat.talk));
        const editor = editors.get(sessionId) as V2Editor;
        return { messageId: await insert(seat, editor, words) };
      }),
    )
    .onNotification(session.cancel, cancel);
}

/** Says something and answers with its id once it is written down; the run it begins, or joins, goes on by itself. */
async function insert(seat: Seat, editor: V2Editor, words: UserInput): Promise<string> {
  const { id, forget } = editor.nextSaid();
  try {
    if (seat.running) {
      await seat.steer(words);
      return await id;
    }
    return await Promise.race([id, begin(seat, editor, words).then(() => id)]);
  } finally {
    forget();
  }
}

/** Runs and tells how it ended. */
function begin(seat: Seat, editor: V2Editor, words: UserInput): Promise<RunState> {
  editor.send({ sessionUpdate: 'state_update', state: 'running' });
  const work = seat.prompt(words);
  void work.then(stopOf, requestError).then((stop) => editor.send(ending(stop)));
  return work;
}

const idle = { sessionUpdate: 'state_update', state: 'idle' } as const;
const endings: Readonly<Record<Stopped, SessionUpdate>> = {
  end_turn: { ...idle, stopReason: 'end_turn' },
  max_tokens: { ...idle, stopReason: 'max_tokens' },
  max_turn_requests: { ...idle, stopReason: 'max_turn_requests' },
  cancelled: { ...idle, stopReason: 'cancelled' },
};

function ending(stop: Stopped | RequestError): SessionUpdate {
  if (typeof stop === 'string') return endings[stop];
  const { code, message } = stop;
  return { ...idle, stopReason: 'error', error: { code, message } };
}
