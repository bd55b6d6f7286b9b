// Runs a session with routing: a router selects the model, the decision is recorded first, and a model that fails is replaced by the next.
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

/** The router of a run, and how the session switches to a model. */
export type RunRouting = {
  /** The name of the router. */
  readonly name: string;
  /** Whether only local models may be selected. */
  readonly private: boolean;
  /** Selects a model for this input; `failed` are the models that just failed. */
  choose(
    input: UserInput | undefined,
    state: RunState,
    failed: readonly string[],
  ): RoutingDecision | Promise<RoutingDecision>;
  /** Switches the session to this model (`Session.setAgent`). An error counts as a failure of the model. */
  switchModel(candidate: ModelCandidate): Promise<void>;
  /** Called with each decision before anything is sent. */
  onChoice(choice: RoutingDecision): void;
};

/** Selects a model for this input and runs. The decision holds for the whole run, so that the prefix stays cached; only a model that cannot be reached is replaced within a run. */
export async function runWithRouting(
  session: Session,
  input: UserInput | undefined,
  options: AdvanceOptions,
  routing: RunRouting,
): Promise<RunState> {
  // A run that waits for approval continues with its model.
  if (input === undefined && session.state.run !== undefined) return session.advance(input, options);
  const failed: string[] = [];
  let current = await chooseAndSwitchModel(session, input, routing, failed);
  let state = await session.advance(input, options);
  while (!options.signal?.aborted) {
    const failure = findModelOutage(state.ended);
    if (!failure || !current) return state;
    failed.push(current.name);
    await session.annotate(modelFailedKey, { model: current.name, error: failure.message, code: failure.code });
    current = await chooseAndSwitchModel(session, input, routing, failed);
    if (!current) return state;
    const { runId: _, ...rest } = options;
    state = await session.advance(undefined, { ...rest, limits: remainingLimits(options.limits ?? {}, state) });
  }
  return state;
}

/** Selects until a model can be opened. Returns undefined if none is left after a failure. */
async function chooseAndSwitchModel(
  session: Session,
  input: UserInput | undefined,
  routing: RunRouting,
  failed: string[],
): Promise<ModelCandidate | undefined> {
  let lastError: unknown;
  const failedBefore = failed.length;
  for (;;) {
    const choice = await routing.choose(input, session.state, failed);
    const { chosen } = choice;
    routing.onChoice(choice);
    if (!chosen) {
      if (failedBefore > 0) return undefined;
      throw lastError instanceof Error ? lastError : noModelError(choice);
    }
    try {
      await routing.switchModel(chosen);
      await session.annotate(modelChosenKey, toDecisionRecord(routing.name, routing.private, choice));
      return chosen;
    } catch (error) {
      const { code, message, blame } = toFailure(error);
      if (blame === 'store' || blame === 'harness') throw error;
      lastError = error;
      failed.push(chosen.name);
      await session.annotate(modelFailedKey, { model: chosen.name, error: message, code, opened: false });
    }
  }
}

/** The error of a decision without a model. */
export const noModelError = ({ why }: RoutingDecision): FairleadError =>
  new FairleadError('routing/no-model', `No model can be selected. ${why}`, {
    blame: 'user',
    hint: 'fairlead models route "<task>" shows why each model was excluded.',
  });

/** The remaining limits: a run on the next model is the same task. */
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
