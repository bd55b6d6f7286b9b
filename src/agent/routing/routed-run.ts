// A run whose model is chosen for it: the choice is written down before it acts, and a model that fails gives way to the next.
import { FairleadError, toFailure, type Limits, type RunState } from '../../core/index.ts';
import {
  toDecisionRecord,
  modelChosenKey,
  modelFailedKey,
  findModelOutage,
  type ModelCandidate,
  type RoutingDecision,
} from '../../providers/routing/index.ts';
import type { AdvanceOptions } from '../run-options.ts';
import type { UserInput } from '../session-facts.ts';
import type { Session } from '../session.ts';

/** Who chooses, and how a choice becomes an agent. */
export type RunRouting = {
  /** What the router is called. */
  readonly name: string;
  /** Whether only models on the person's own machines may be chosen. */
  readonly private: boolean;
  /** What to choose for these words; those that failed just now are named. */
  choose(
    words: UserInput | undefined,
    state: RunState,
    failed: readonly string[],
  ): RoutingDecision | Promise<RoutingDecision>;
  /** Lets the session go on with this model (`Session.become`); what it throws counts as a failure of the model. */
  switchModel(candidate: ModelCandidate): Promise<void>;
  /** Told of each choice before anything is sent. */
  onChoice(choice: RoutingDecision): void;
};

/** Chooses a model for these words and runs. One choice lasts for the whole run, so that its prefix holds; only a model that cannot be reached is left in the middle of it. */
export async function runWithRouting(
  session: Session,
  words: UserInput | undefined,
  options: AdvanceOptions,
  routed: RunRouting,
): Promise<RunState> {
  // A run that waits for a person goes on with the model that it began with.
  if (words === undefined && session.state.run !== undefined) return session.advance(words, options);
  const failed: string[] = [];
  let now = await chooseAndSwitchModel(session, words, routed, failed);
  let state = await session.advance(words, options);
  while (!options.signal?.aborted) {
    const failure = findModelOutage(state.ended);
    if (!failure || !now) return state;
    failed.push(now.name);
    await session.annotate(modelFailedKey, { model: now.name, error: failure.message, code: failure.code });
    now = await chooseAndSwitchModel(session, words, routed, failed);
    if (!now) return state;
    const { runId: _, ...rest } = options;
    state = await session.advance(undefined, { ...rest, limits: remainingLimits(options.limits ?? {}, state) });
  }
  return state;
}

/** Chooses until a model can be opened; nothing where none is left and one has failed already. */
async function chooseAndSwitchModel(
  session: Session,
  words: UserInput | undefined,
  routed: RunRouting,
  failed: string[],
): Promise<ModelCandidate | undefined> {
  let last: unknown;
  const before = failed.length;
  for (;;) {
    const choice = await routed.choose(words, session.state, failed);
    const { chosen } = choice;
    routed.onChoice(choice);
    if (!chosen) {
      if (before > 0) return undefined;
      throw last instanceof Error ? last : noModelError(choice);
    }
    try {
      await routed.switchModel(chosen);
      await session.annotate(modelChosenKey, toDecisionRecord(routed.name, routed.private, choice));
      return chosen;
    } catch (error) {
      const { code, message, blame } = toFailure(error);
      if (blame === 'store' || blame === 'harness') throw error;
      last = error;
      failed.push(chosen.name);
      await session.annotate(modelFailedKey, { model: chosen.name, error: message, code, opened: false });
    }
  }
}

/** The error for a choice among nobody. */
export const noModelError = ({ why }: RoutingDecision): FairleadError =>
  new FairleadError('routing/no-model', `No model can be chosen. ${why}`, {
    blame: 'user',
    hint: 'fairlead models route "<task>" shows what is in the way of each.',
  });

/** What is left of the limits: going on with another model is the same piece of work. */
function remainingLimits(limits: Partial<Limits>, { spent }: RunState): Partial<Limits> {
  const used: Partial<Limits> = {
    turns: spent.turns,
    calls: spent.calls,
    tokens: spent.input + spent.output,
    usd: spent.usd,
    ms: spent.ms,
  };
  return Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [name, Math.max(0, limit - (used[name as keyof Limits] ?? 0))]),
  );
}
