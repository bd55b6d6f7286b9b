// A session without an agent: enough to fork and to edit what was said, never to run.
import { Session } from '../../agent/index.ts';
import {
  FairleadError,
  type ResolvedAgent,
  type Log,
  type NamedView,
  type Provider,
  type RunState,
  type Tool,
} from '../../core/index.ts';
import { readSessionState } from './session-reader.ts';

/** Opens a log with the agent that its own facts describe, so that opening it writes nothing. What the views have seen is taken along: a label must not be lost by an edit. */
export async function openOfflineSession(log: Log, views: readonly NamedView<unknown>[]): Promise<Session> {
  const state = await readSessionState(log);
  if (state.session === '')
    throw new FairleadError('store/no-session', 'Nothing was said in this session yet.', { blame: 'user' });
  return Session.open({ ...createOfflineParts(state), views }, log);
}

/** The parts of an agent that cannot do anything. */
const createOfflineParts = ({ system, model, tools }: Pick<RunState, 'system' | 'model' | 'tools'>): ResolvedAgent => ({
  system,
  provider: createOfflineProvider(model),
  tools: new Map(tools.map((spec): [string, Tool] => [spec.name, { ...spec, effect: 'read', execute: throwNoAgent }])),
  rules: [],
  reminders: [],
  gates: [],
  stops: [],
  checks: [],
  settings: {},
});

const throwNoAgent = (): never => {
  throw new FairleadError('server/no-agent', 'This session is only read and edited here.', { blame: 'harness' });
};

const createOfflineProvider = (model: string): Provider => ({ family: 'none', model, stream: throwNoAgent });
