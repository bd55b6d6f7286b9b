// Settings with names that the user chooses: short names of models, and the models of a router.
import { isObject } from '../../core/index.ts';
import { patternParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

/** The groups: `models.fast` is a short name of a model, `routers.auto` the models of a router. */
const namedEntries: Readonly<Record<string, SettingEntry>> = {
  models: {
    project: 'never',
    description: 'the model of this name, <provider>/<model>',
    parse: patternParser(/^[^\s/]+\/\S+$/, 'a model, <provider>/<model>'),
  },
  routers: {
    project: 'never',
    description: 'the models of this router, <provider>/<model>, separated by spaces',
    parse: patternParser(/^[^\s/]+\/\S+( +[^\s/]+\/\S+)*$/, 'models, <provider>/<model>, separated by spaces'),
  },
};

/** The named settings of a config file, each with its key. A router with more options is an object, which is parsed when it is used. */
export const findNamedEntries = (
  config: Readonly<Record<string, unknown>>,
): readonly (readonly [string, SettingEntry])[] =>
  Object.entries(namedEntries).flatMap(([group, entry]) =>
    Object.entries(isObject(config[group]) ? config[group] : {})
      .filter(([, value]) => group === 'models' || typeof value === 'string')
      .map(([name]) => [`${group}.${name}`, entry] as const),
  );

/** The definition of a named setting; undefined if the key is not of such a group. */
export const getNamedEntry = (key: string): SettingEntry | undefined =>
  namedEntries[/^(models|routers)\.[\w-]+$/.exec(key)?.[1] ?? ''];
