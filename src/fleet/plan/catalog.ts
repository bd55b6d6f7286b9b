// What a plan can use: the tools, agents and models of the run that plans, as the program that starts the worker describes them.
import { FairleadError, isObject, type FleetRun, type Json, type Price } from '../../core/index.ts';
import type { PlanStart, PlanState } from './events.ts';
import type { ResolvedPlanOptions } from './options.ts';
import type { PlanBounds, StepLimits } from './plan.ts';

/** A model that does or verifies steps. */
export type PlanModel = { readonly family: string; readonly model: string; readonly price?: Price };

/** What a plan can use. */
export type PlanCatalog = {
  /** The names of the tools of the run; absent if they are not known in advance. */
  readonly tools?: readonly string[];
  /** The names of the agents that can do a step. */
  readonly agents?: readonly string[];
  /** The models of these agents, as far as they are known in advance. */
  readonly agentModels?: readonly PlanModel[];
  /** The model that does the steps. */
  readonly model?: PlanModel;
  /** The model that verifies results, if there is one. */
  readonly verifier?: PlanModel;
};

/** Describes what the plan of a run can use; `verifier` is the model that the run asks for. */
export type DescribeCatalog = (run: FleetRun, verifier: string | undefined) => Promise<PlanCatalog>;

/** Returns the name of a model with its family. */
export const formatModel = ({ family, model }: PlanModel): string => `${family}/${model}`;

/** Throws if results would be verified by the model that wrote them. */
export function assertIndependentVerifier({ model, agentModels = [], verifier }: PlanCatalog): void {
  const authors = [...(model ? [model] : []), ...agentModels].map(formatModel);
  if (!verifier || !authors.includes(formatModel(verifier))) return;
  throw new FairleadError('fleet/same-verifier', `The verifier ${formatModel(verifier)} is a model that does steps.`, {
    blame: 'user',
    hint: 'Choose another model as the verifier: a model may not verify its own results.',
  });
}

/** Returns what the plan of a run is started with. */
export function createPlanStart(run: FleetRun, options: ResolvedPlanOptions, catalog: PlanCatalog): PlanStart {
  const { caps, attempts, replans, verifier } = options;
  const verifierName = catalog.verifier ? formatModel(catalog.verifier) : verifier;
  return {
    caps,
    attempts,
    replans,
    limits: getRunLimits(run),
    agents: catalog.agents ?? [],
    ...(catalog.tools ? { tools: catalog.tools } : {}),
    ...(catalog.model ? { model: formatModel(catalog.model) } : {}),
    ...(verifierName === undefined ? {} : { verifier: verifierName }),
  };
}

/** The limits of a run that its plan has as caps. */
export function getRunLimits({ settings: { limits } }: FleetRun): StepLimits {
  if (!isObject(limits)) return {};
  return Object.fromEntries(
    (['usd', 'tokens', 'turns'] as const).flatMap((name) => {
      const value: Json | undefined = limits[name];
      return typeof value === 'number' ? [[name, value]] : [];
    }),
  );
}

/** Returns how many steps a further revision may have: every step that was started counts. */
export const countFreeSteps = ({ caps }: Pick<PlanStart, 'caps'>, { steps }: Pick<PlanState, 'steps'>): number =>
  Math.max(0, caps.steps - [...steps.values()].filter(({ attempt }) => attempt > 0).length);

/** Returns what the next plan of a run is checked against. */
export function getPlanBounds({ settings }: FleetRun, start: PlanStart, state: PlanState): PlanBounds {
  const steps = [...state.steps.values()];
  const done = steps.flatMap(({ id, status }) => (status === 'done' ? [id] : []));
  return {
    agents: start.agents,
    ...(start.tools ? { tools: start.tools } : {}),
    auto: settings['auto'] === true,
    limits: start.limits,
    maxSteps: countFreeSteps(start, state),
    maxDepth: start.caps.depth,
    done,
    used: steps.map(({ id }) => id),
  };
}
