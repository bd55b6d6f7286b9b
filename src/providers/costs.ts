// What a month of use costs: in the cloud, on a machine of one's own, and with both; and when a machine has paid for itself.
import type { Price } from '../core/index.ts';

/** A month of use. */
export type MonthlyUsage = {
  /** Tokens in the month, in and out together. */
  readonly tokens: number;
  /** US dollars per million tokens, in and out together. */
  readonly usdPerMillion: number;
  /** The part of the tokens, from 0 to 1, that a local model takes over. */
  readonly localShare?: number;
  /** What the local machine uses in electricity a month. */
  readonly electricityUsd?: number;
};

/** What the month costs in three ways. */
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

/** After how many months a machine has paid for itself; never, if it does not save anything. */
export function paybackMonths(hardwareUsd: number, cloudUsd: number, localUsd = 0): number {
  const saved = cloudUsd - localUsd;
  return saved > 0 ? hardwareUsd / saved : Number.POSITIVE_INFINITY;
}

/** One price for tokens in and out together, where this part of them, from 0 to 1, is output. */
export const blendedPrice = ({ input, output }: Price, outputShare = 0.2): number =>
  input * (1 - outputShare) + output * outputShare;
