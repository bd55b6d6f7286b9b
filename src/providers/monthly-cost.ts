// Monthly cost estimates: cloud, local, hybrid, and the payback time and the profit of a local machine.
import type { Price } from '../core/index.ts';

/** The usage of one month. */
export type MonthlyUsage = {
  /** Tokens in the month, in and out together. */
  readonly tokens: number;
  /** US dollars per million tokens, in and out together. */
  readonly usdPerMillion: number;
  /** The share of tokens, from 0 to 1, that a local model handles. */
  readonly localShare?: number;
  /** Electricity cost of the local machine per month, if it handles all tokens. */
  readonly electricityUsd?: number;
};

/** The monthly cost of three setups. */
export type MonthlyCost = {
  /** Everything in the cloud. */
  readonly cloud: number;
  /** Everything on the local machine: electricity alone. */
  readonly local: number;
  /** The local share on the machine with its share of the electricity, the rest in the cloud. */
  readonly hybrid: number;
};

/** The cost of a month in US dollars. */
export function monthlyCost({
  tokens,
  usdPerMillion,
  localShare = 0.5,
  electricityUsd = 0,
}: MonthlyUsage): MonthlyCost {
  const cloud = (tokens * usdPerMillion) / 1e6;
  return { cloud, local: electricityUsd, hybrid: cloud * (1 - localShare) + electricityUsd * localShare };
}

/** Months until a machine has paid for itself; Infinity if it saves nothing. */
export function paybackMonths(hardwareUsd: number, cloudUsd: number, localUsd = 0): number {
  const saved = cloudUsd - localUsd;
  return saved > 0 ? hardwareUsd / saved : Number.POSITIVE_INFINITY;
}

/** A blended price for input and output tokens, given the share of output from 0 to 1. */
export const blendedPrice = ({ input, output }: Price, outputShare = 0.2): number =>
  input * (1 - outputShare) + output * outputShare;

/** The electricity that a machine uses. */
export type ElectricityUse = {
  /** Power of the machine under load, in watts; 450 by default, an RTX 4090. */
  readonly watts?: number;
  /** Hours of load per day; 5 by default. */
  readonly hoursPerDay?: number;
  /** US dollars per kilowatt-hour; 0.15 by default. */
  readonly usdPerKwh?: number;
};

/** The cost of electricity in a month of 30 days, in US dollars; about $10 with the defaults. */
export const electricityCost = ({ watts = 450, hoursPerDay = 5, usdPerKwh = 0.15 }: ElectricityUse = {}): number =>
  (watts / 1000) * hoursPerDay * 30 * usdPerKwh;

/** The inputs of a payback estimate. */
export type PaybackInput = {
  /** The price of the machine in US dollars. */
  readonly hardwareUsd: number;
  /** What the cloud costs per month, which the machine replaces. */
  readonly cloudUsd: number;
  /** What the machine costs per month. */
  readonly electricityUsd: number;
  /** How many years the machine may last; 3 and 5 by default. */
  readonly lifespanYears?: readonly number[];
};

/** What a machine returns over its lifespan. */
export type Payback = {
  /** Months until the machine has paid for itself; absent if it never does. */
  readonly months: number | undefined;
  /** What is left after each lifespan: the savings minus the price of the machine, in US dollars. */
  readonly profits: readonly { readonly years: number; readonly usd: number }[];
};

/** Estimates when a machine has paid for itself and how much it has saved at the end of its lifespan. */
export function estimatePayback({
  hardwareUsd,
  cloudUsd,
  electricityUsd,
  lifespanYears = [3, 5],
}: PaybackInput): Payback {
  const months = paybackMonths(hardwareUsd, cloudUsd, electricityUsd);
  return {
    months: Number.isFinite(months) ? months : undefined,
    profits: lifespanYears.map((years) => ({ years, usd: (cloudUsd - electricityUsd) * 12 * years - hardwareUsd })),
  };
}
