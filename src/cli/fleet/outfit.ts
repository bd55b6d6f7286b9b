// What a queued run is worked on with: the same settings, policy, sandbox, hooks, rules and secrets as in the terminal, with nobody there to be asked at once.
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject, type JsonObject, type Limits, type Provider } from '../../core/index.ts';
import { createOutputSchema } from '../../agent/index.ts';
import { createClientTools, type AgentInstance, type AgentFactory } from '../../fleet/index.ts';
import { sessionGrants } from '../../guards/index.ts';
import { talkOnly, type Chosen } from '../conversation/model.ts';
import { openModel, type Host } from '../conversation/open-model.ts';
import { outfitFor } from '../conversation/outfit.ts';
import { labelled, labelOf, mustStayHere, isPrivate, withViews } from '../conversation/privacy.ts';
import { chosenUnasked } from '../conversation/unasked-model.ts';
import { nobody } from '../equipment/index.ts';
import { containsPath } from '../../workspace/paths.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import { usualModel } from './usual-model.ts';

/** How the agent of a queued run is to be made; what is absent is as the worker's settings have it. */
export type RunSettings = {
  readonly model?: string;
  readonly folder?: string;
  /** The folders that it may not leave, where it came from somebody who may not name any: looked at here, without links. */
  readonly within?: readonly string[];
  /** Changes are made unasked. */
  readonly auto?: boolean;
  /** Only models on the person's own machines may read it. */
  readonly private?: boolean;
  readonly limits?: Partial<Limits>;
  /** False for an agent that only thinks. */
  readonly tools?: boolean;
  /** A JSON Schema that the answer is held to; of other kinds of runs this says something else. */
  readonly answer?: JsonObject;
};

/** Turns of one run unless somebody says otherwise, as in the terminal. */
const usualTurns = 100;

/** Models that are kept open: one that many runs share has one breaker and one rate for all of them. */
const mostModels = 32;

/** An outfitter for the runs of this machine, whose model is the named one unless they say otherwise. */
export function outfitterHere(tell: (sentence: string) => void, named?: string): AgentFactory {
  const models = new Map<string, Promise<Provider>>();
  const open = (chosen: Chosen, settings: Settings, host: Host): Promise<Provider> => {
    const key = JSON.stringify([chosen.ref, settings.env]);
    const known = models.get(key);
    if (known) return known;
    const opening = openModel(chosen, settings, host);
    models.set(key, opening);
    opening.catch(() => models.delete(key));
    const [oldest] = models.keys();
    if (models.size > mostModels && oldest !== undefined) models.delete(oldest);
    return opening;
  };
  return async (run, _signal, govern) => {
    const wish = wishOf(run.settings);
    const cwd = path.resolve(wish.folder ?? process.cwd());
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new FairleadError('cli/no-folder', `There is no folder ${cwd} on this machine.`, { blame: 'user' });
    mustBeWithin(cwd, wish.within);
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
      ...(isObject(wish.answer) ? { answer: createOutputSchema(wish.answer) } : {}),
      elsewhere: createClientTools(run.settings),
      person: nobody(say),
      mayUse: async (other) => (isSecret ? mustStayHere(other, settings) : undefined),
      govern,
    });
    try {
      const label = labelOf({ private: wish.private === true }, settings, outfit.instructions);
      const { chosen, provider } = await modelFor(wish.model ?? usualModel(settings, named), run.words, label, {
        settings,
        say,
        open,
      });
      const parts = withViews(
        outfit.partsFor(govern(provider), chosen.tools !== false && wish.tools !== false),
        undefined,
      );
      const { ears } = outfit;
      return {
        parts,
        limits: { turns: usualTurns, ...settings.limits, ...lower(wish.limits, settings.limits) },
        async onSessionOpened(session) {
          await labelled(session, label);
          isSecret = isPrivate(session);
          if (isSecret) await mustStayHere(chosen, settings);
        },
        ...(ears
          ? {
              onPrompt: (words, state) => ears.onPrompt(words, state),
              onEvent: (event, state) => ears.onEvent(event, state),
            }
          : {}),
        close: () => outfit.close(),
      } satisfies AgentInstance;
    } catch (error) {
      await outfit.close();
      throw error;
    }
  };
}

/** Throws where a folder has become the way to another since it was allowed. */
function mustBeWithin(cwd: string, within: unknown): void {
  if (within === undefined) return;
  const found = realpathSync(cwd);
  if (Array.isArray(within) && within.some((each) => typeof each === 'string' && containsPath(each, found))) return;
  throw new FairleadError('cli/wrong-folder', `The run may not work in ${cwd}: it leads elsewhere.`, { blame: 'user' });
}

/** The limits of a run: it may set itself less than the person's settings do, never more. */
const lower = (wished: Partial<Limits> = {}, set: Partial<Limits> = {}): Partial<Limits> =>
  Object.fromEntries(
    Object.entries(wished).map(([name, value]) => [name, Math.min(value, set[name as keyof Limits] ?? value)]),
  );

type Opening = {
  readonly settings: Settings;
  readonly say: (text: string) => void;
  readonly open: (chosen: Chosen, settings: Settings, host: Host) => Promise<Provider>;
};

/** The model of a run; what a router chooses is for these words alone. */
async function modelFor(
  model: string | undefined,
  words: string,
  label: string | undefined,
  { settings, say, open }: Opening,
): Promise<{ readonly chosen: Chosen; readonly provider: Provider }> {
  const host: Host = { agrees: async () => false, progress: () => {}, say };
  const chosen = await chosenUnasked({ model }, settings, say);
  const poor = talkOnly(chosen);
  if (poor !== undefined) say(poor);
  if (chosen.router === undefined) return { chosen, provider: await open(chosen, settings, host) };
  const { liveRouter } = await import('../routing/live-router.ts');
  return (await liveRouter(chosen.router, settings, host)).first(words, label);
}

/** What a run's settings say to whoever makes its agent. What is said wrongly is refused, not left out; what others are told there is theirs. */
function wishOf(settings: JsonObject): RunSettings {
  for (const [key, expected] of Object.entries(kinds)) {
    const value = settings[key];
    const fits = expected === 'object' ? isObject(value) : typeof value === expected;
    if (value === undefined || value === null || fits) continue;
    throw new FairleadError('cli/bad-run', `A run cannot be made with ${key}: ${JSON.stringify(value)}.`, {
      blame: 'user',
      hint: `That has to be ${expected === 'object' ? 'an object' : `a ${expected}`}.`,
    });
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

const kinds: Readonly<Record<Exclude<keyof RunSettings, 'answer' | 'within'>, 'string' | 'boolean' | 'object'>> = {
  model: 'string',
  folder: 'string',
  auto: 'boolean',
  private: 'boolean',
  limits: 'object',
  tools: 'boolean',
};
