// A model in a listing, and how its fields are read from what servers send: anything may be missing, and nothing is believed blindly.
import { isObject, type Price } from '../../core/index.ts';
import type { ProviderInfo } from '../http/errors.ts';
import type { ProviderFamily } from '../families.ts';
import type { PriceBook } from '../prices.ts';

/** Whether a model can do something; servers that do not say leave it unknown. */
export type ModelCapability = boolean | 'unknown';

/** A model that a provider offers, and what it can do. */
export type ModelInfo = {
  readonly id: string;
  readonly provider: string;
  /** Calling tools. */
  readonly tools: ModelCapability;
  /** Seeing images. */
  readonly images: ModelCapability;
  /** Thinking before it answers. */
  readonly reasoning: ModelCapability;
  /** Tokens it takes as it is set up now, where that can be told, else what it can take at most. */
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  /** Whether it is in memory now. */
  readonly loaded?: boolean;
  /** Bytes on disk. */
  readonly size?: number;
  readonly price?: Price;
};

/** Where a listing is read from. */
export type ListingSource = {
  readonly family: ProviderFamily;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly providerInfo: ProviderInfo;
  readonly signal: AbortSignal;
  readonly prices: PriceBook;
};

/** An object as sent, its fields still to be looked at. */
export type RawJsonObject = { readonly [key: string]: unknown };

/** The objects of a list that may be under this key. */
export const objectsAt = (value: unknown, key: string): readonly RawJsonObject[] => {
  const list = isObject(value) ? value[key] : value;
  return Array.isArray(list) ? list.filter(isObject) : [];
};

/** A text, if it is one and not empty. */
export const nonEmptyString = (value: unknown): string | undefined =>
  typeof value === 'string' && value ? value : undefined;

/** A whole number above zero, if it is one; some servers write numbers as text. */
export function positiveCount(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number > 0 ? number : undefined;
}

/** Yes or no where the server says so. */
export const toCapability = (value: unknown): ModelCapability => (typeof value === 'boolean' ? value : 'unknown');

/** Whether a word is in a list; unknown if there is no list. */
export const includesCapability = (list: unknown, word: string): ModelCapability =>
  Array.isArray(list) ? list.includes(word) : 'unknown';

/** An object without the fields that hold nothing. */
export function omitUndefined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}
