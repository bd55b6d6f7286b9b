// The options of a plan, as the settings of its run contain them: caps, attempts, verifier and consent.
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';

/** The caps of a plan. They are shown before it starts and enforced while it runs. */
export type PlanCaps = {
  /** The maximum number of steps that are started, over all revisions. */
  readonly steps: number;
  /** The maximum number of steps in a chain of dependencies within one revision. */
  readonly depth: number;
  /** The maximum number of steps that run at the same time. */
  readonly parallel: number;
};

/** The options of a plan: `settings.plan` of its run. */
export type PlanOptions = {
  readonly caps?: Partial<PlanCaps>;
  /** How often a step is tried; 2 by default. */
  readonly attempts?: number;
  /** How often a new plan is made for what failed; 1 by default. */
  readonly replans?: number;
  /** The model that verifies results; it must be another model than the one that does the steps. */
  readonly verifier?: string;
  /** The steps whose results are verified: those that the plan marks (`marked`, the default), `all`, or `none`. */
  readonly verify?: 'marked' | 'all' | 'none';
  /** True: the plan waits for consent before it starts. False: consent is given. By default it waits only above `confirmAbove`. */
  readonly confirm?: boolean;
  /** Above this estimate in dollars the plan waits for consent; 1 by default. */
  readonly confirmAbove?: number;
  /** Steps that the caller wrote: no model is asked for a plan. They are parsed and checked like those of a model. */
  readonly steps?: readonly JsonObject[];
};

/** The options with all defaults. */
export type ResolvedPlanOptions = Required<Pick<PlanOptions, 'attempts' | 'replans' | 'verify' | 'confirmAbove'>> &
  Pick<PlanOptions, 'verifier' | 'confirm' | 'steps'> & { readonly caps: PlanCaps };

/** The default caps of a plan. */
export const defaultPlanCaps: PlanCaps = { steps: 20, depth: 10, parallel: 4 };

/** The largest caps that a plan can have. */
export const maxPlanCaps: PlanCaps = { steps: 100, depth: 50, parallel: 32 };

/** Without a price the cost is unknown; a plan with more steps than this then waits for consent. */
export const maxUnconfirmedSteps = 10;

const maxAttempts = 5;
const maxReplans = 3;

/** Parses the options of a plan; a value that is not valid is an error. */
export function parsePlanOptions(value: Json | undefined): ResolvedPlanOptions {
  if (value !== undefined && !isObject(value)) throw badOption('plan', 'an object');
  const { caps, attempts, replans, verifier, verify = 'marked', confirm, confirmAbove = 1, steps } = value ?? {};
  if (caps !== undefined && !isObject(caps)) throw badOption('caps', 'an object');
  if (verify !== 'marked' && verify !== 'all' && verify !== 'none') throw badOption('verify', 'marked, all or none');
  if (verifier !== undefined && typeof verifier !== 'string') throw badOption('verifier', 'the name of a model');
  if (confirm !== undefined && typeof confirm !== 'boolean') throw badOption('confirm', 'true or false');
  if (typeof confirmAbove !== 'number' || confirmAbove < 0) throw badOption('confirmAbove', 'an amount in dollars');
  if (steps !== undefined && !isStepList(steps)) throw badOption('steps', 'a list of steps');
  return {
    caps: {
      steps: parseCount('caps.steps', caps?.['steps'], defaultPlanCaps.steps, 1, maxPlanCaps.steps),
      depth: parseCount('caps.depth', caps?.['depth'], defaultPlanCaps.depth, 1, maxPlanCaps.depth),
      parallel: parseCount('caps.parallel', caps?.['parallel'], defaultPlanCaps.parallel, 1, maxPlanCaps.parallel),
    },
    attempts: parseCount('attempts', attempts, 2, 1, maxAttempts),
    replans: parseCount('replans', replans, 1, 0, maxReplans),
    verify,
    confirmAbove,
    ...(verifier === undefined ? {} : { verifier }),
    ...(confirm === undefined ? {} : { confirm }),
    ...(steps === undefined ? {} : { steps }),
  };
}

const isStepList = (value: Json): value is readonly JsonObject[] => Array.isArray(value) && value.every(isObject);

function parseCount(name: string, value: Json | undefined, fallback: number, min: number, max: number): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw badOption(name, `a whole number from ${min} to ${max}`);
}

const badOption = (name: string, expected: string): FairleadError =>
  new FairleadError('fleet/bad-plan-option', `The option ${name} of a plan must be ${expected}.`, { blame: 'user' });
