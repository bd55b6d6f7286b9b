// The router of a conversation: chooses for each message, opens what it chose, and tells the person before anything is sent.
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

/** The conversation as its router knows it. */
export type RoutedConversation = {
  readonly session: Session;
  readonly isPrivate: boolean;
  /** The name of the model it is with. */
  readonly currentModel: string;
  /** Goes on with this model. */
  useModel(opened: OpenedModel): Promise<void>;
};

/** A router at work. */
export type SessionRouter = {
  readonly name: string;
  /** What an agent must see of its session for the router to learn from it. */
  readonly views: readonly NamedView<unknown>[];
  /** The model that a session is opened with: the one for these words, where they are known already; with a label, one that keeps what is private. */
  openFirstModel(words: string | undefined, label: string | undefined): Promise<OpenedModel>;
  /** Runs, with the model that these words need. */
  run(talk: RoutedConversation, words: UserInput | undefined, options: AdvanceOptions): Promise<RunState>;
};

/** The router of this name, ready to choose. */
export async function createSessionRouter(name: string, settings: Settings, host: ModelHost): Promise<SessionRouter> {
  const router = findRouter(name, settings);
  const entrants = await loadRouterCandidates(router, settings);
  const opened = new Map<string, Promise<Provider>>();
  let past: Promise<readonly PastRun[]> | undefined;

  async function open(name: string): Promise<OpenedModel> {
    const { model } = entrants.find(({ candidate }) => candidate.name === name) as RouterCandidate;
    // There is another to fall back on, so a model that does not answer is not waited for long.
    const options = { retry: { retries: 1 }, circuit: { failures: 2, coolMs: router.coolMs } };
    const opening = opened.get(name) ?? openModel(model, settings, host, options);
    opened.set(name, opening);
    opening.catch(() => opened.delete(name));
    return { model, provider: await opening };
  }

  /** The candidates with the windows that opening some of them has shown. */
  async function candidates(): Promise<readonly RouterCandidate['candidate'][]> {
    return Promise.all(
      entrants.map(async ({ candidate }) => {
        const provider = await opened.get(candidate.name)?.catch(() => undefined);
        return candidate.window === undefined && provider?.contextWindow !== undefined
          ? { ...candidate, window: provider.contextWindow }
          : candidate;
      }),
    );
  }

  async function choose(
    about: Omit<RoutingContext, 'past' | 'now'>,
    runs: readonly PastRun[],
  ): Promise<RoutingDecision> {
    past ??= readRunHistory(settings.dirs);
    const situation = { ...about, past: deduplicateRuns([...(await past), ...runs]), now: Date.now() };
    return route(await candidates(), situation, router);
  }

  return {
    name,
    views: [runHistoryView],
    async openFirstModel(words = '', label) {
      const about = {
        task: words,
        context: defaultFrameTokens + estimateTokens(words),
        needs: agentNeeds,
        private: label !== undefined,
      };
      const choice = await choose(about, []);
      if (!choice.chosen) throw noModelError(choice);
      return open(choice.chosen.name);
    },
    run: (talk, words, options) =>
      runWithRouting(talk.session, words, options, {
        name: router.name,
        private: talk.isPrivate,
        choose: (said, state, failed) =>
          choose(toSituation(talk, said, state, options, failed), readView(state, runHistoryView).runs),
        switchModel: async (candidate) => talk.useModel(await open(candidate.name)),
        onChoice: (choice) => host.notify(formatDecision(choice)),
      }),
  };
}

/** A session that goes on is on the shelf too: what it did counts once. */
const deduplicateRuns = (runs: readonly PastRun[]): readonly PastRun[] => [
  ...new Map(runs.map((ran) => [`${ran.time} ${ran.model} ${ran.name ?? ''}`, ran])).values(),
];

/** Tokens that every request holds before anything is said: the standing text and the tools, about. */
export const defaultFrameTokens = 1500;

/** An agent in a folder is offered tools whatever it is asked. */
const agentNeeds = { tools: true, images: false };

function toSituation(
  { isPrivate: isPrivate, currentModel }: RoutedConversation,
  words: UserInput | undefined,
  state: RunState,
  { limits }: AdvanceOptions,
  except: readonly string[],
): Omit<RoutingContext, 'past' | 'now'> {
  const parts = words === undefined || typeof words === 'string' ? [] : words;
  const said = typeof words === 'string' ? words : messageText({ role: 'user', parts });
  const usdLeft = limits?.usd;
  return {
    task: words === undefined ? getLastUserText(state) : said,
    context: state.context + estimateTokens(said),
    needs: { ...agentNeeds, images: parts.some((part) => part.type === 'file' && part.mediaType.startsWith('image/')) },
    private: isPrivate,
    except,
    ...(usdLeft === undefined ? {} : { usdLeft }),
    ...(state.turn === 0 ? {} : { current: currentModel }),
  };
}

/** What was asked last, where nothing is said anew. */
function getLastUserText({ messages }: RunState): string {
  const asked = toArray(messages).findLast(({ role }) => role === 'user');
  return asked ? messageText(asked) : '';
}
