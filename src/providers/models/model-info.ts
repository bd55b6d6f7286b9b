// A model in a listing, and defensive parsers for fields that servers send.
import { isObject, type Price } from '../../core/index.ts';
import type { ProviderInfo } from '../http/errors.ts';
import type { ProviderFamily } from '../families.ts';
import type { PriceBook } from '../prices.ts';

/** A capability; unknown if the server does not report it. */
export type ModelCapability = boolean | 'unknown';

/** A model and its capabilities. */
export type ModelInfo = {
  readonly id: string;
  readonly provider: string;
  /** Calling tools. */
  readonly tools: ModelCapability;
  /** Image input. */
  readonly images: ModelCapability;
  /** Reasoning. */
  readonly reasoning: ModelCapability;
  /** The configured context window if known, otherwise the maximum. */
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  /** Whether it is loaded. */
  readonly loaded?: boolean;
  /** Bytes on disk. */
  readonly size?: number;
  readonly price?: Price;
};

/** The source of a listing. */
export type ListingSource = {
  readonly family: ProviderFamily;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly providerInfo: ProviderInfo;
  readonly signal: AbortSignal;
  readonly prices: PriceBook;
};

/** An unvalidated object of a server. */
export type RawJsonObject = { readonly [key: string]: unknown };

/** Returns the objects of an optional list. */
export const objectsAt = (value: unknown, key: string): readonly RawJsonObject[] => {
  const list = isObject(value) ? value[key] : value;
  return Array.isArray(list) ? list.filter(isObject) : [];
};

/** Returns a non-empty string. */
export const nonEmptyString = (value: unknown): string | undefined =>
  typeof value === 'string' && value ? value : undefined;

/** Returns a positive integer; accepts numbers as text. */
export function positiveCount(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number > 0 ? number : undefined;
}

/** Returns a boolean, if it is one. */
export const toCapability = (value: unknown): ModelCapability => (typeof value === 'boolean' ? value : 'unknown');

/** Returns whether a list contains a word; unknown without a list. */
export const includesCapability = (list: unknown, word: string): ModelCapability =>
  Array.isArray(list) ? list.includes(word) : 'unknown';

/** Removes undefined fields. */
export function omitUndefined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}
