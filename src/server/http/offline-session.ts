// Opens a session without an agent, to fork and edit it; it cannot run.
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

/** Opens a log with the model, tools and system prompt that it records, so that opening it writes no event. Views keep their state: an edit must not lose a label. */
export async function openOfflineSession(log: Log, views: readonly NamedView<unknown>[]): Promise<Session> {
  const state = await readSessionState(log);
  if (state.session === '') throw new FairleadError('store/no-session', 'The session is empty.', { blame: 'user' });
  return Session.open({ ...createOfflineParts(state), views }, log);
}

/** An agent without a model or tools that work. */
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
  throw new FairleadError('server/no-agent', 'This session is open for reading and editing only.', {
    blame: 'harness',
  });
};

const createOfflineProvider = (model: string): Provider => ({ family: 'none', model, stream: throwNoAgent });
