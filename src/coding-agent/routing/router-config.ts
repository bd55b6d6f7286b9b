// The routers that the person's own config file describes: which models each chooses among, and what counts how much.
import { FairleadError, isObject, closestMatches, type Json, type Price } from '../../core/index.ts';
import {
  defaultRoutingOptions,
  type RoutingOptions,
  type RoutingWeights,
  type KeywordWeights,
} from '../../providers/routing/index.ts';
import type { Settings } from '../settings/index.ts';

/** A model of a router as its file names it. */
export type RouterModel = {
  /** `provider/model`. */
  readonly model: string;
  readonly url?: string;
  /** The person vouches that nothing it is told leaves their machines, or says that it does. */
  readonly local?: boolean;
  readonly quality?: number;
  readonly tools?: boolean;
  readonly window?: number;
  readonly price?: Price;
};

/** A router as the person described it. */
export type RouterSettings = RoutingOptions & { readonly name: string; readonly models: readonly RouterModel[] };

const example = '{"routers": {"auto": {"models": ["ollama/qwen3:8b", "anthropic/claude-sonnet-5"]}}}';

/** The router that is meant by `auto`, which is the only one or the one of that name, or by `router:<name>`. */
export function findRouter(
  wanted: string,
  { routers, userFile }: Pick<Settings, 'routers' | 'userFile'>,
): RouterSettings {
  const all = isObject(routers) ? routers : {};
  const names = Object.keys(all);
  const only = wanted === 'auto' && names.length === 1 ? names[0] : undefined;
  const name = only ?? wanted.replace(/^router:/, '');
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  if (found !== undefined) return parseRouter(wanted, found, `routers.${name} in ${userFile}`);
  const near = closestMatches(name, names).map((each) => `router:${each}`);
  throw new FairleadError('cli/no-router', `There is no router "${name}" in ${userFile}.`, {
    blame: 'user',
    hint: near.length
      ? `Did you mean ${near.join(' or ')}?`
      : `Describe one there, such as ${example}, or name a model with --model.`,
  });
}

function parseRouter(name: string, value: Json, where: string): RouterSettings {
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
  const given = typeof value === 'string' ? { model: value } : value;
  if (!isObject(given) || typeof given['model'] !== 'string' || !given['model'].includes('/'))
    throw badRouterError(where, '"<provider>/<model>", or an object with that as its model');
  const { url, local, tools } = given;
  const quality = parseNumberInRange(given['quality'], `${where} quality`, [0, 1]);
  const window = parseNumberInRange(given['window'], `${where} window`, [1, 1e9]);
  return {
    model: given['model'],
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof local === 'boolean' ? { local } : {}),
    ...(typeof tools === 'boolean' ? { tools } : {}),
    ...(quality === undefined ? {} : { quality }),
    ...(window === undefined ? {} : { window }),
    ...parsePrice(given['price'], `${where} price`),
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

type NumberRange = readonly [least: number, most: number];

function parseNumberInRange(value: unknown, where: string, [least, most]: NumberRange): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw badRouterError(where, `a number from ${least} to ${most}`);
}

/** Numbers by name; of these names alone, where some are given. */
function parseNumbersByName<T extends object>(
  value: unknown,
  where: string,
  bounds: NumberRange,
  known?: object,
): Partial<T> {
  if (value === undefined) return {};
  if (!isObject(value)) throw badRouterError(where, 'an object of numbers');
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (known && !Object.hasOwn(known, name))
        throw badRouterError(where, `numbers for ${Object.keys(known).join(', ')}`);
      return [known ? name : name.toLowerCase(), parseNumberInRange(each, `${where}.${name}`, bounds)];
    }),
  ) as Partial<T>;
}

const badRouterError = (where: string, what: string): FairleadError =>
  new FairleadError('settings/bad-value', `${where} must be ${what}.`, {
    blame: 'user',
    hint: 'Mend it with "fairlead config edit". docs/routing.md shows what a router may say.',
  });
