// Monthly cost estimates: cloud, local, hybrid, and the payback time of a local machine.
import type { Price } from '../core/index.ts';

/** The usage of one month. */
export type MonthlyUsage = {
  /** Tokens in the month, in and out together. */
  readonly tokens: number;
  /** US dollars per million tokens, in and out together. */
  readonly usdPerMillion: number;
  /** The share of tokens, from 0 to 1, that a local model handles. */
  readonly localShare?: number;
  /** Electricity cost of the local machine per month. */
  readonly electricityUsd?: number;
};

/** The monthly cost of three setups. */
export type MonthlyCost = {
  /** Everything in the cloud. */
  readonly cloud: number;
  /** Everything on the local machine: electricity alone. */
  readonly local: number;
  /** The local share on the machine, the rest in the cloud; electricity not counted, as the machine runs anyway. */
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
  return { cloud, local: electricityUsd, hybrid: cloud * (1 - localShare) };
}

/** Months until a machine has paid for itself; Infinity if it saves nothing. */
export function paybackMonths(hardwareUsd: number, cloudUsd: number, localUsd = 0): number {
  const saved = cloudUsd - localUsd;
  return saved > 0 ? hardwareUsd / saved : Number.POSITIVE_INFINITY;
}

/** A blended price for input and output tokens, given the share of output from 0 to 1. */
export const blendedPrice = ({ input, output }: Price, outputShare = 0.2): number =>
  input * (1 - outputShare) + output * outputShare;
