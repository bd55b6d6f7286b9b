// What a queued run is worked on with: the same settings, policy, sandbox, hooks, rules and secrets as in the terminal, with nobody there to be asked at once.
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  FairleadError,
  isObject,
  isPathInside,
  type JsonObject,
  type Limits,
  type Provider,
} from '../../core/index.ts';
import { createOutputSchema } from '../../agent/index.ts';
import { createClientTools, type AgentInstance, type AgentFactory } from '../../fleet/index.ts';
import { sessionGrants } from '../../guards/index.ts';
import { formatNoToolsWarning, type ResolvedModel, resolveModelUnattended } from '../models/resolve-model.ts';
import { openModel, type ModelHost } from '../models/open-model.ts';
import { createCodingAgent, defaultMaxTurns } from '../create-agent.ts';
import { markPrivate, findPrivacyLabel, assertLocalModel, isPrivateSession, withPrivacyViews } from '../privacy.ts';
import { noUser } from '../integrations/index.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import { getDefaultModel } from '../models/default-model.ts';

/** How the agent of a queued run is to be made; what is absent is as the worker's settings have it. */
export type RunAgentSettings = {
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

/** Models that are kept open: one that many runs share has one breaker and one rate for all of them. */
const maxOpenModels = 32;

/** An outfitter for the runs of this machine, whose model is the named one unless they say otherwise. */
export function createRunAgentFactory(tell: (sentence: string) => void, named?: string): AgentFactory {
  const models = new Map<string, Promise<Provider>>();
  const open = (chosen: ResolvedModel, settings: Settings, host: ModelHost): Promise<Provider> => {
    const key = JSON.stringify([chosen.ref, settings.env]);
    const known = models.get(key);
    if (known) return known;
    const opening = openModel(chosen, settings, host);
    models.set(key, opening);
    opening.catch(() => models.delete(key));
    const [oldest] = models.keys();
    if (models.size > maxOpenModels && oldest !== undefined) models.delete(oldest);
    return opening;
  };
  return async (run, _signal, govern) => {
    const wish = parseRunSettings(run.settings);
    const cwd = path.resolve(wish.folder ?? process.cwd());
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new FairleadError('cli/no-folder', `There is no folder ${cwd} on this machine.`, { blame: 'user' });
    assertWithin(cwd, wish.within);
    const settings = readSettings({ cwd });
    const say = (text: string): void => tell(`${run.id}: ${text.trimEnd()}`);
    const auto = wish.auto === true || settings.approve === 'auto';
    let isSecret = false;
    const outfit = await createCodingAgent({
      settings,
      cwd,
      autoApprove: () => auto,
      grants: sessionGrants(),
      codeOnly: false,
      ...(isObject(wish.answer) ? { outputSchema: createOutputSchema(wish.answer) } : {}),
      clientTools: createClientTools(run.settings),
      prompter: noUser(say),
      assertModelAllowed: async (other) => (isSecret ? assertLocalModel(other, settings) : undefined),
      wrapProvider: govern,
    });
    try {
      const label = findPrivacyLabel({ private: wish.private === true }, settings, outfit.instructions);
      const { model, provider } = await openRunModel(
        wish.model ?? getDefaultModel(settings, named),
        run.prompt,
        label,
        {
          settings,
          say,
          open,
        },
      );
      const parts = withPrivacyViews(
        outfit.forModel(govern(provider), model.tools !== false && wish.tools !== false),
        undefined,
      );
      const { hooks } = outfit;
      return {
        parts,
        limits: { turns: defaultMaxTurns, ...settings.limits, ...capLimits(wish.limits, settings.limits) },
        async onSessionOpened(session) {
          await markPrivate(session, label);
          isSecret = isPrivateSession(session);
          if (isSecret) await assertLocalModel(model, settings);
        },
        ...(hooks
          ? {
              onPrompt: (words, state) => hooks.onPrompt(words, state),
              onEvent: (event, state) => hooks.onEvent(event, state),
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
function assertWithin(cwd: string, within: unknown): void {
  if (within === undefined) return;
  const found = realpathSync(cwd);
  if (Array.isArray(within) && within.some((each) => typeof each === 'string' && isPathInside(each, found))) return;
  throw new FairleadError('cli/wrong-folder', `The run may not work in ${cwd}: it leads elsewhere.`, { blame: 'user' });
}

/** The limits of a run: it may set itself less than the person's settings do, never more. */
const capLimits = (wished: Partial<Limits> = {}, set: Partial<Limits> = {}): Partial<Limits> =>
  Object.fromEntries(
    Object.entries(wished).map(([name, value]) => [name, Math.min(value, set[name as keyof Limits] ?? value)]),
  );

type RunModelContext = {
  readonly settings: Settings;
  readonly say: (text: string) => void;
  readonly open: (chosen: ResolvedModel, settings: Settings, host: ModelHost) => Promise<Provider>;
};

/** The model of a run; what a router chooses is for these words alone. */
async function openRunModel(
  model: string | undefined,
  words: string,
  label: string | undefined,
  { settings, say, open }: RunModelContext,
): Promise<{ readonly model: ResolvedModel; readonly provider: Provider }> {
  const host: ModelHost = { confirm: async () => false, progress: () => {}, notify: say };
  const chosen = await resolveModelUnattended({ model }, settings, say);
  const poor = formatNoToolsWarning(chosen);
  if (poor !== undefined) say(poor);
  if (chosen.router === undefined) return { model: chosen, provider: await open(chosen, settings, host) };
  const { createSessionRouter } = await import('../routing/session-router.ts');
  return (await createSessionRouter(chosen.router, settings, host)).openFirstModel(words, label);
}

/** What a run's settings say to whoever makes its agent. What is said wrongly is refused, not left out; what others are told there is theirs. */
function parseRunSettings(settings: JsonObject): RunAgentSettings {
  for (const [key, expected] of Object.entries(settingTypes)) {
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

const settingTypes: Readonly<
  Record<Exclude<keyof RunAgentSettings, 'answer' | 'within'>, 'string' | 'boolean' | 'object'>
> = {
  model: 'string',
  folder: 'string',
  auto: 'boolean',
  private: 'boolean',
  limits: 'object',
  tools: 'boolean',
};
