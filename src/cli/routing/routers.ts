// The routers that the person's own config file describes: which models each chooses among, and what counts how much.
import { FairleadError, isObject, closestMatches, type Json, type Price } from '../../core/index.ts';
import { usualRouting, type RoutingOptions, type Weights, type WordWeights } from '../../providers/routing/index.ts';
import type { Settings } from '../settings/index.ts';

/** A model of a router as its file names it. */
export type ListedModel = {
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
export type RouterSettings = RoutingOptions & { readonly name: string; readonly models: readonly ListedModel[] };

const example = '{"routers": {"auto": {"models": ["ollama/qwen3:8b", "anthropic/claude-sonnet-5"]}}}';

/** The router that is meant by `auto`, which is the only one or the one of that name, or by `router:<name>`. */
export function routerNamed(
  wanted: string,
  { routers, userFile }: Pick<Settings, 'routers' | 'userFile'>,
): RouterSettings {
  const all = isObject(routers) ? routers : {};
  const names = Object.keys(all);
  const only = wanted === 'auto' && names.length === 1 ? names[0] : undefined;
  const name = only ?? wanted.replace(/^router:/, '');
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  if (found !== undefined) return routerIn(wanted, found, `routers.${name} in ${userFile}`);
  const near = closestMatches(name, names).map((each) => `router:${each}`);
  throw new FairleadError('cli/no-router', `There is no router "${name}" in ${userFile}.`, {
    blame: 'user',
    hint: near.length
      ? `Did you mean ${near.join(' or ')}?`
      : `Describe one there, such as ${example}, or name a model with --model.`,
  });
}

function routerIn(name: string, value: Json, where: string): RouterSettings {
  if (!isObject(value) || !Array.isArray(value['models']) || value['models'].length === 0)
    throw wrong(where, 'an object with a list of models');
  return {
    name,
    models: value['models'].map((each, i) => modelIn(each, `${where}, model ${i + 1},`)),
    weights: {
      ...usualRouting.weights,
      ...numbersIn<Weights>(value['weights'], `${where}, weights`, [0, 1000], usualRouting.weights),
    },
    words: numbersIn<WordWeights>(value['words'], `${where}, words`, [-1, 1]) as WordWeights,
    coolMs: numberIn(value['coolMs'], `${where}, coolMs`, [0, 86_400_000]) ?? usualRouting.coolMs,
  };
}

function modelIn(value: unknown, where: string): ListedModel {
  const given = typeof value === 'string' ? { model: value } : value;
  if (!isObject(given) || typeof given['model'] !== 'string' || !given['model'].includes('/'))
    throw wrong(where, '"<provider>/<model>", or an object with that as its model');
  const { url, local, tools } = given;
  const quality = numberIn(given['quality'], `${where} quality`, [0, 1]);
  const window = numberIn(given['window'], `${where} window`, [1, 1e9]);
  return {
    model: given['model'],
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof local === 'boolean' ? { local } : {}),
    ...(typeof tools === 'boolean' ? { tools } : {}),
    ...(quality === undefined ? {} : { quality }),
    ...(window === undefined ? {} : { window }),
    ...priceIn(given['price'], `${where} price`),
  };
}

function priceIn(value: unknown, where: string): { readonly price?: Price } {
  if (value === undefined) return {};
  const { input, output, cacheRead, cacheWrite } = numbersIn<Price>(value, where, [0, 1e6]);
  if (input === undefined || output === undefined)
    throw wrong(where, 'dollars a million tokens: {"input": 3, "output": 15}');
  return {
    price: {
      input,
      output,
      ...(cacheRead === undefined ? {} : { cacheRead }),
      ...(cacheWrite === undefined ? {} : { cacheWrite }),
    },
  };
}

type Bounds = readonly [least: number, most: number];

function numberIn(value: unknown, where: string, [least, most]: Bounds): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw wrong(where, `a number from ${least} to ${most}`);
}

/** Numbers by name; of these names alone, where some are given. */
function numbersIn<T extends object>(value: unknown, where: string, bounds: Bounds, known?: object): Partial<T> {
  if (value === undefined) return {};
  if (!isObject(value)) throw wrong(where, 'an object of numbers');
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (known && !Object.hasOwn(known, name)) throw wrong(where, `numbers for ${Object.keys(known).join(', ')}`);
      return [known ? name : name.toLowerCase(), numberIn(each, `${where}.${name}`, bounds)];
    }),
  ) as Partial<T>;
}

const wrong = (where: string, what: string): FairleadError =>
  new FairleadError('settings/bad-value', `${where} must be ${what}.`, {
    blame: 'user',
    hint: 'Mend it with "fairlead config edit". docs/routing.md shows what a router may say.',
  });
