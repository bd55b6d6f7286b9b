// The router of a conversation: chooses and opens a model for each message, and informs the user before anything is sent.
import type { AdvanceOptions, Session, UserInput } from '../../agent/index.ts';
import { noModelError, runWithRouting } from '../../agent/routing/index.ts';
import {
  estimateTokens,
  readView,
  messageText,
  toArray,
  type NamedView,
  type Provider,
  type RunState,
} from '../../core/index.ts';
import {
  formatDecision,
  runHistoryView,
  route,
  type RoutingDecision,
  type PastRun,
  type RoutingContext,
} from '../../providers/routing/index.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { openModel, type ModelHost } from '../models/open-model.ts';
import type { Settings } from '../settings/index.ts';
import { loadRouterCandidates, type RouterCandidate } from './candidates.ts';
import { readRunHistory } from './run-history.ts';
import { findRouter } from './router-config.ts';

/** A model that is open. */
export type OpenedModel = { readonly model: ResolvedModel; readonly provider: Provider };

/** The conversation as the router sees it. */
export type RoutedConversation = {
  readonly session: Session;
  readonly isPrivate: boolean;
  /** The name of the current model. */
  readonly currentModel: string;
  /** Continues with this model. */
  useModel(opened: OpenedModel): Promise<void>;
};

/** A router for one conversation. */
export type SessionRouter = {
  readonly name: string;
  /** The views that the agent needs so that the router can learn from its session. */
  readonly views: readonly NamedView<unknown>[];
  /** Opens the model for the first prompt, if it is known; with a privacy label, a local model. */
  openFirstModel(prompt: string | undefined, label: string | undefined): Promise<OpenedModel>;
  /** Runs with the model that the input needs. */
  run(conversation: RoutedConversation, input: UserInput | undefined, options: AdvanceOptions): Promise<RunState>;
};

/** Creates the router with this name. */
export async function createSessionRouter(name: string, settings: Settings, host: ModelHost): Promise<SessionRouter> {
  const router = findRouter(name, settings);
  const models = await loadRouterCandidates(router, settings);
  const opened = new Map<string, Promise<Provider>>();
  let past: Promise<readonly PastRun[]> | undefined;

  async function open(name: string): Promise<OpenedModel> {
    const { model } = models.find(({ candidate }) => candidate.name === name) as RouterCandidate;
    // Another model can take over, so the wait for a model that does not answer is short.
    const options = { retry: { retries: 1 }, circuit: { failures: 2, coolMs: router.coolMs } };
    const opening = opened.get(name) ?? openModel(model, settings, host, options);
    opened.set(name, opening);
    opening.catch(() => opened.delete(name));
    return { model, provider: await opening };
  }

  /** The candidates, with the context windows of those that are open. */
  async function candidates(): Promise<readonly RouterCandidate['candidate'][]> {
    return Promise.all(
      models.map(async ({ candidate }) => {
        const provider = await opened.get(candidate.name)?.catch(() => undefined);
        return candidate.window === undefined && provider?.contextWindow !== undefined
          ? { ...candidate, window: provider.contextWindow }
          : candidate;
      }),
    );
  }

  async function choose(
    context: Omit<RoutingContext, 'past' | 'now'>,
    runs: readonly PastRun[],
  ): Promise<RoutingDecision> {
    past ??= readRunHistory(settings.dirs);
    const complete = { ...context, past: deduplicateRuns([...(await past), ...runs]), now: Date.now() };
    return route(await candidates(), complete, router);
  }

  return {
    name,
    views: [runHistoryView],
    async openFirstModel(prompt = '', label) {
      const context = {
        task: prompt,
        context: defaultFrameTokens + estimateTokens(prompt),
        needs: agentNeeds,
        private: label !== undefined,
      };
      const choice = await choose(context, []);
      if (!choice.chosen) throw noModelError(choice);
      return open(choice.chosen.name);
    },
    run: (conversation, input, options) =>
      runWithRouting(conversation.session, input, options, {
        name: router.name,
        private: conversation.isPrivate,
        choose: (text, state, failed) =>
          choose(toRoutingContext(conversation, text, state, options, failed), readView(state, runHistoryView).runs),
        switchModel: async (candidate) => conversation.useModel(await open(candidate.name)),
        onChoice: (choice) => host.notify(formatDecision(choice)),
      }),
  };
}

/** The runs of the current session are in its file too, and must count once. */
const deduplicateRuns = (runs: readonly PastRun[]): readonly PastRun[] => [
  ...new Map(runs.map((run) => [`${run.time} ${run.model} ${run.name ?? ''}`, run])).values(),
];

/** The approximate number of tokens of the system prompt and the tools. */
export const defaultFrameTokens = 1500;

/** The coding agent always has tools. */
const agentNeeds = { tools: true, images: false };

function toRoutingContext(
  { isPrivate, currentModel }: RoutedConversation,
  input: UserInput | undefined,
  state: RunState,
  { limits }: AdvanceOptions,
  except: readonly string[],
): Omit<RoutingContext, 'past' | 'now'> {
  const parts = input === undefined || typeof input === 'string' ? [] : input;
  const text = typeof input === 'string' ? input : messageText({ role: 'user', parts });
  const usdLeft = limits?.usd;
  return {
    task: input === undefined ? getLastUserText(state) : text,
    context: state.context + estimateTokens(text),
    needs: { ...agentNeeds, images: parts.some((part) => part.type === 'file' && part.mediaType.startsWith('image/')) },
    private: isPrivate,
    except,
    ...(usdLeft === undefined ? {} : { usdLeft }),
    ...(state.turn === 0 ? {} : { current: currentModel }),
  };
}

/** The last message of the user, if there is no new input. */
function getLastUserText({ messages }: RunState): string {
  const last = toArray(messages).findLast(({ role }) => role === 'user');
  return last ? messageText(last) : '';
}
