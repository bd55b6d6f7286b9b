// A session without an agent: enough to fork and to edit what was said, never to run.
import { Session } from '../agent/index.ts';
import {
  FairleadError,
  runView,
  type AgentParts,
  type Log,
  type Provider,
  type RunState,
  type Tool,
} from '../core/index.ts';

/** Opens a log with the agent that its own facts describe, so that opening it writes nothing. */
export async function openBare(log: Log): Promise<Session> {
  const view = runView();
  let state = view.initial;
  for await (const events of log.read({ from: 'epoch' })) for (const event of events) state = view.on(state, event);
  if (state.session === '')
    throw new FairleadError('store/no-session', 'Nothing was said in this session yet.', { blame: 'user' });
  return Session.open(partsIn(state), log);
}

/** The parts of an agent that cannot do anything. */
export const partsIn = ({ system, model, tools }: Pick<RunState, 'system' | 'model' | 'tools'>): AgentParts => ({
  system,
  provider: mute(model),
  tools: new Map(tools.map((spec): [string, Tool] => [spec.name, { ...spec, effect: 'read', run: refuse }])),
  rules: [],
  reminders: [],
  gates: [],
  stops: [],
  checks: [],
  settings: {},
});

const refuse = (): never => {
  throw new FairleadError('server/no-agent', 'This session is only read and edited here.', { blame: 'harness' });
};

const mute = (model: string): Provider => ({ family: 'none', model, stream: refuse });
