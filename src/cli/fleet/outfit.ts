// What a queued run is worked on with: the same settings, policy, sandbox, hooks, rules and secrets as in the terminal, with nobody there to be asked at once.
import { statSync } from 'node:fs';
import path from 'node:path';
import {
  FairleadError,
  isObject,
  type FleetRun,
  type JsonObject,
  type Limits,
  type Provider,
} from '../../core/index.ts';
import type { Outfitted, Outfitter } from '../../fleet/index.ts';
import { sessionGrants } from '../../guards/index.ts';
import { talkOnly, type Chosen } from '../conversation/model.ts';
import { modelOrRouter, type Host } from '../conversation/open-model.ts';
import { outfitFor } from '../conversation/outfit.ts';
import { labelled, labelOf, mustStayHere, isPrivate, withViews } from '../conversation/privacy.ts';
import { chosenUnasked } from '../conversation/unasked-model.ts';
import { nobody } from '../equipment/index.ts';
import { readSettings, type Settings } from '../settings/index.ts';

/** How the agent of a queued run is to be made; what is absent is as the worker's settings have it. */
export type RunSettings = {
  readonly model?: string;
  readonly folder?: string;
  /** Changes are made unasked. */
  readonly auto?: boolean;
  /** Only models on the person's own machines may read it. */
  readonly private?: boolean;
  readonly limits?: Partial<Limits>;
};

/** Turns of one run unless somebody says otherwise, as in the terminal. */
const usualTurns = 100;

/** Models that are kept open: one that many runs share has one breaker and one rate for all of them. */
const mostModels = 32;

/** An outfitter for the runs of this machine. */
export function outfitterHere(tell: (sentence: string) => void): Outfitter {
  const models = new Map<string, Promise<Opened>>();
  const open = (wish: RunSettings, run: FleetRun, settings: Settings, label: string | undefined): Promise<Opened> => {
    const key = JSON.stringify([wish.model, label, settings.provider, settings.url, settings.model, settings.env]);
    const known = models.get(key);
    if (known) return known;
    const opening = openFor(wish, run.words, settings, label, tell);
    models.set(key, opening);
    opening.then(
      // What a router chooses is for these words alone.
      ({ routed }) => routed && models.delete(key),
      () => models.delete(key),
    );
    const [oldest] = models.keys();
    if (models.size > mostModels && oldest !== undefined) models.delete(oldest);
    return opening;
  };
  return async (run, _signal, govern) => {
    const wish = wishOf(run.settings);
    const cwd = path.resolve(wish.folder ?? process.cwd());
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new FairleadError('cli/no-folder', `There is no folder ${cwd} on this machine.`, { blame: 'user' });
    const settings = readSettings({ cwd });
    const say = (text: string): void => tell(`${run.id}: ${text.trimEnd()}`);
    const auto = wish.auto === true || settings.approve === 'auto';
    let isSecret = false;
    const outfit = await outfitFor({
      settings,
      cwd,
      auto: () => auto,
      grants: sessionGrants(),
      code: false,
      person: nobody(say),
      mayUse: async (other) => (isSecret ? mustStayHere(other, settings) : undefined),
      govern,
    });
    try {
      const label = labelOf({ private: wish.private === true }, settings, outfit.instructions);
      const { chosen, provider } = await open(wish, run, settings, label);
      const parts = withViews(outfit.partsFor(govern(provider), chosen.tools !== false), undefined);
      const { ears } = outfit;
      return {
        parts,
        limits: { turns: usualTurns, ...settings.limits, ...wish.limits },
        async opened(session) {
          await labelled(session, label);
          isSecret = isPrivate(session);
          if (isSecret) await mustStayHere(chosen, settings);
        },
        ...(ears
          ? { words: (words, state) => ears.words(words, state), told: (event, state) => ears.told(event, state) }
          : {}),
        close: () => outfit.close(),
      } satisfies Outfitted;
    } catch (error) {
      await outfit.close();
      throw error;
    }
  };
}

type Opened = { readonly chosen: Chosen; readonly provider: Provider; readonly routed: boolean };

async function openFor(
  { model }: RunSettings,
  words: string,
  settings: Settings,
  label: string | undefined,
  tell: (sentence: string) => void,
): Promise<Opened> {
  const say = (text: string): void => tell(text.trimEnd());
  const host: Host = { agrees: async () => false, progress: () => {}, say };
  const chosen = await chosenUnasked({ model }, settings, say);
  const poor = talkOnly(chosen);
  if (poor !== undefined) say(poor);
  const opened = await modelOrRouter(chosen, settings, host);
  if (!('first' in opened)) return { chosen, provider: opened, routed: false };
  return { ...(await opened.first(words, label)), routed: true };
}

/** What a run's settings say that is understood here; what is not understood is refused, not left out. */
function wishOf(settings: JsonObject): RunSettings {
  for (const [key, value] of Object.entries(settings)) {
    const expected = Object.hasOwn(kinds, key) ? kinds[key as keyof RunSettings] : undefined;
    const fits = expected === 'object' ? isObject(value) : typeof value === expected;
    if (expected === undefined || !fits)
      throw new FairleadError('cli/bad-run', `A run cannot be made with ${key}: ${JSON.stringify(value)}.`, {
        blame: 'user',
        hint: `It may set ${Object.keys(kinds).join(', ')}.`,
      });
  }
  return settings;
}

const kinds: Readonly<Record<keyof RunSettings, 'string' | 'boolean' | 'object'>> = {
  model: 'string',
  folder: 'string',
  auto: 'boolean',
  private: 'boolean',
  limits: 'object',
};
