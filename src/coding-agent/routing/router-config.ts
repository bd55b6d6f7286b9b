// Parses the routers of the user's config file: their models and weights.
import { FairleadError, isObject, closestMatches, type Json, type Price } from '../../core/index.ts';
import {
  defaultRoutingOptions,
  type RoutingOptions,
  type RoutingWeights,
  type KeywordWeights,
} from '../../providers/routing/index.ts';
import type { Settings } from '../settings/index.ts';

/** A model of a router as configured. */
export type RouterModel = {
  /** `provider/model`. */
  readonly model: string;
  readonly url?: string;
  /** Whether the model runs on the user's own machines; overrides what is detected. */
  readonly local?: boolean;
  readonly quality?: number;
  readonly tools?: boolean;
  readonly window?: number;
  readonly price?: Price;
};

/** A router as configured. */
export type RouterSettings = RoutingOptions & { readonly name: string; readonly models: readonly RouterModel[] };

const example = 'fairlead config set routers.auto "ollama/qwen3:8b anthropic/claude-sonnet-5"';

/** Finds the router of `auto`, which is the only one or the one named so, or of `router:<name>`. */
export function findRouter(
  selector: string,
  { routers, userFile }: Pick<Settings, 'routers' | 'userFile'>,
): RouterSettings {
  const all = isObject(routers) ? routers : {};
  const names = Object.keys(all);
  const only = selector === 'auto' && names.length === 1 ? names[0] : undefined;
  const name = only ?? selector.replace(/^router:/, '');
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  if (found !== undefined) return parseRouter(selector, found, `routers.${name} in ${userFile}`);
  const near = closestMatches(name, names).map((each) => `router:${each}`);
  throw new FairleadError('coding-agent/no-router', `There is no router "${name}" in ${userFile}.`, {
    blame: 'user',
    hint: near.length ? `Did you mean ${near.join(' or ')}?` : `Define it: ${example}. Or name a model with --model.`,
  });
}

function parseRouter(name: string, given: Json, where: string): RouterSettings {
  const value = typeof given === 'string' ? { models: given.split(' ').filter(Boolean) } : given;
  if (!isObject(value) || !Array.isArray(value['models']) || value['models'].length === 0)
    throw badRouterError(where, 'an object with a list of models');
  return {
    name,
    models: value['models'].map((each, i) => parseListedModel(each, `${where}, model ${i + 1},`)),
    weights: {
      ...defaultRoutingOptions.weights,
      ...parseNumbersByName<RoutingWeights>(
        value['weights'],
        `${where}, weights`,
        [0, 1000],
        defaultRoutingOptions.weights,
      ),
    },
    words: parseNumbersByName<KeywordWeights>(value['words'], `${where}, words`, [-1, 1]) as KeywordWeights,
    coolMs: parseNumberInRange(value['coolMs'], `${where}, coolMs`, [0, 86_400_000]) ?? defaultRoutingOptions.coolMs,
  };
}

function parseListedModel(value: unknown, where: string): RouterModel {
  const entry = typeof value === 'string' ? { model: value } : value;
  if (!isObject(entry) || typeof entry['model'] !== 'string' || !entry['model'].includes('/'))
    throw badRouterError(where, '"<provider>/<model>", or an object with that as its model');
  const { url, local, tools } = entry;
  const quality = parseNumberInRange(entry['quality'], `${where} quality`, [0, 1]);
  const window = parseNumberInRange(entry['window'], `${where} window`, [1, 1e9]);
  return {
    model: entry['model'],
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof local === 'boolean' ? { local } : {}),
    ...(typeof tools === 'boolean' ? { tools } : {}),
    ...(quality === undefined ? {} : { quality }),
    ...(window === undefined ? {} : { window }),
    ...parsePrice(entry['price'], `${where} price`),
  };
}

function parsePrice(value: unknown, where: string): { readonly price?: Price } {
  if (value === undefined) return {};
  const { input, output, cacheRead, cacheWrite } = parseNumbersByName<Price>(value, where, [0, 1e6]);
  if (input === undefined || output === undefined)
    throw badRouterError(where, 'dollars a million tokens: {"input": 3, "output": 15}');
  return {
    price: {
      input,
      output,
      ...(cacheRead === undefined ? {} : { cacheRead }),
      ...(cacheWrite === undefined ? {} : { cacheWrite }),
    },
  };
}

type NumberRange = readonly [min: number, max: number];

function parseNumberInRange(value: unknown, where: string, [min, max]: NumberRange): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw badRouterError(where, `a number from ${min} to ${max}`);
}

/** Parses an object of numbers; `known` restricts its keys. */
function parseNumbersByName<T extends object>(
  value: unknown,
  where: string,
  range: NumberRange,
  known?: object,
): Partial<T> {
  if (value === undefined) return {};
  if (!isObject(value)) throw badRouterError(where, 'an object of numbers');
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (known && !Object.hasOwn(known, name))
        throw badRouterError(where, `numbers for ${Object.keys(known).join(', ')}`);
      return [known ? name : name.toLowerCase(), parseNumberInRange(each, `${where}.${name}`, range)];
    }),
  ) as Partial<T>;
}

const badRouterError = (where: string, expected: string): FairleadError =>
  new FairleadError('settings/bad-value', `${where} must be ${expected}.`, {
    blame: 'user',
    hint: 'Fix it with "fairlead config edit". docs/routing.md describes routers.',
  });
