// The run handlers of a worker, and the agent of a queued run: the same settings, policy, sandbox, hooks, rules and redaction as in the terminal, without a user to ask.
import {
  FairleadError,
  isObject,
  verificationDemandKey,
  type JsonObject,
  type Limits,
  type Provider,
} from '../../core/index.ts';
import { createOutputSchema, type Session } from '../../agent/index.ts';
import {
  createClientTools,
  type AgentInstance,
  type AgentFactory,
  createOrchestrationHandler,
  createAgentRunHandler,
  selectTools,
  type RunHandler,
} from '../../fleet/index.ts';
import { formatNoToolsWarning, type ResolvedModel, getDefaultModel } from '../models/resolve-model.ts';
import { resolveModelUnattended } from '../models/start-model.ts';
import { openModel, type ModelHost } from '../models/open-model.ts';
import { createCodingAgent, defaultMaxTurns, type CreateCodingAgentOptions } from '../create-agent.ts';
import {
  markPrivate,
  findPrivacyLabel,
  assertLocalModel,
  isPrivateSession,
  withPrivacyViews,
} from '../private-sessions.ts';
import { noUser } from '../integrations/context.ts';
import { readSettings, readSettingsWith, type Settings } from '../settings/index.ts';
import { createPlanOrchestration } from '../../fleet/plan/index.ts';
import { openTracer } from '../tracing/open-tracer.ts';
import { resolveRunFolder } from './run-folder.ts';
import { isIsolated, openIsolatedRun } from './isolated-run.ts';
import { selectRunMode } from './run-mode.ts';
import { openRunGrants, runGrantsView } from './run-grants.ts';
import { createPlanDescriber } from './plan-catalog.ts';
import { createVerifyRunHandler } from './verify-run.ts';

/** The settings of a queued run; absent ones are those of the worker. */
export type RunAgentSettings = {
  readonly model?: string;
  readonly folder?: string;
  /** The directories that the run may not leave; compared with the real path of `folder`. */
  readonly within?: readonly string[];
  /** Changes are made without approval. */
  readonly auto?: boolean;
  /** The permission mode of the run: it can be stricter than that of the worker, and never less strict. */
  readonly approve?: string;
  /** Only models on the user's own machines may read the session. */
  readonly private?: boolean;
  readonly limits?: Partial<Limits>;
  /** False for an agent without tools; a list keeps only the tools that it names. */
  readonly tools?: boolean | readonly string[];
  /** A JSON Schema that the answer must match; other kinds of runs use this field for other values. */
  readonly answer?: JsonObject;
  /** `worktree`: the run works in a git worktree of its own, so that runs of one repository do not disturb each other. */
  readonly isolation?: 'worktree' | 'none';
  /** The answer is verified claim by claim; one that is not verified ends the run as an abstention. */
  readonly verify?: boolean;
};

/** The maximum number of open models. Runs share an open model, and with it its circuit breaker and rate limit. */
const maxOpenModels = 32;

/** Options of the agents of a worker. */
export type RunAgentOptions = {
  /** The model of runs that name none. */
  readonly model?: string | undefined;
  /** Whether an answer may keep a permission for the project in permissions.yaml of the user of this worker; not by default. */
  readonly canKeepPermissions?: boolean;
  /**
   * The config directory of the agents, such as that of a release; by default that of the user. Keys of providers are read from the
   * user's config all the same. `model` is then the model of all runs.
   */
  readonly configDir?: string;
};

/** Creates the agents of the runs of this machine. */
export function createRunAgentFactory(
  notify: (text: string) => void,
  { model: defaultModel, canKeepPermissions = false, configDir }: RunAgentOptions = {},
): AgentFactory {
  const models = new Map<string, Promise<Provider>>();
  const open = (model: ResolvedModel, settings: Settings, host: ModelHost): Promise<Provider> => {
    const key = JSON.stringify([model.ref, settings.env, settings.tenant, settings.rateLimits]);
    const opened = models.get(key);
    if (opened) return opened;
    const opening = openModel(model, settings, host);
    models.set(key, opening);
    opening.catch(() => models.delete(key));
    const [oldest] = models.keys();
    if (models.size > maxOpenModels && oldest !== undefined) models.delete(oldest);
    return opening;
  };
  return async (run, _signal, govern) => {
    const requested = parseRunSettings(run.settings);
    const cwd = resolveRunFolder(requested);
    const settings = { ...readSettingsWith(cwd, configDir), tenant: run.tenant };
    const log = (text: string): void => notify(`${run.id}: ${text.trimEnd()}`);
    for (const warning of settings.warnings) log(warning);
    const mode = selectRunMode(requested, settings.approve);
    const autoApprove = mode === 'auto';
    // The model that verifies a step is another one than that of the release, which does it.
    const isVerifier = run.settings['planRole'] === 'verifier';
    let isPrivate = false;
    const { grants, bind } = await openRunGrants({ run, settings, cwd, canKeep: canKeepPermissions, onWarning: log });
    const agentOptions: CreateCodingAgentOptions = {
      settings,
      cwd,
      grants,
      autoApprove: () => autoApprove,
      mode: () => mode,
      ...(isObject(requested.answer) ? { outputSchema: createOutputSchema(requested.answer) } : {}),
      clientTools: createClientTools(run.settings),
      prompter: noUser(log),
      ...(configDir === undefined ? {} : { resourceHome: configDir }),
      assertModelAllowed: async (other) => (isPrivate ? assertLocalModel(other, settings) : undefined),
      wrapProvider: govern,
    };
    const isolated = isIsolated(requested) ? await openIsolatedRun(run, agentOptions, log) : undefined;
    const created = isolated?.agent ?? (await createCodingAgent(agentOptions));
    const verified: { open?: { readonly session: Session }; model?: ResolvedModel } = {};
    const isVerified = requested.verify === true || settings.verifiesAnswers;
    const agent = !isVerified
      ? created
      : (await import('../verification/index.ts')).withVerifyCheck(created, {
          settings,
          host: { confirm: async () => false, progress: () => {}, notify: log },
          wrapProvider: govern,
          current: () => ({ ...verified, private: isPrivate }),
        });
    try {
      for (const problem of agent.problems) log(problem);
      const label = findPrivacyLabel({ private: requested.private === true }, settings, agent.instructions);
      const { model, provider } = await openRunModel(
        {
          name:
            (configDir === undefined || isVerifier ? requested.model : defaultModel) ??
            getDefaultModel(settings, defaultModel),
          configured: defaultModel ?? settings.model,
        },
        run.prompt,
        label,
        {
          settings,
          log,
          open,
        },
      );
      verified.model = model;
      const parts = withPrivacyViews(
        agent.forModel(govern(provider), model.tools !== false && requested.tools !== false),
        undefined,
      );
      const { hooks } = agent;
      const tools = selectTools(parts.tools, Array.isArray(requested.tools) ? requested.tools : undefined);
      const bound = bind(agent);
      return {
        parts: { ...parts, tools, views: [...(parts.views ?? []), runGrantsView] },
        listScopes: bound.listScopes,
        grantScope: bound.grantScope,
        onApproval: bound.onApproval,
        limits: { turns: defaultMaxTurns, ...settings.limits, ...capLimits(requested.limits, settings.limits) },
        async onSessionOpened(session) {
          verified.open = { session };
          // In every run, so that a client that streams it holds the text back until it is verified.
          if (isVerified) await session.annotate(verificationDemandKey, true);
          await bound.onSessionOpened(session);
          await isolated?.record(session);
          await markPrivate(session, label);
          isPrivate = isPrivateSession(session);
          if (isPrivate) await assertLocalModel(model, settings);
        },
        ...(hooks
          ? {
              onPrompt: (prompt, state) => hooks.onPrompt(prompt, state),
              onEvent: (event, state) => hooks.onEvent(event, state),
            }
          : {}),
        close: () => agent.close(),
      } satisfies AgentInstance;
    } catch (error) {
      await agent.close();
      throw error;
    }
  };
}

/** The limits of a run: a run may lower the limits of the user's settings, never raise them. */
const capLimits = (requested: Partial<Limits> = {}, maximum: Partial<Limits> = {}): Partial<Limits> =>
  Object.fromEntries(
    Object.entries(requested).map(([name, value]) => [name, Math.min(value, maximum[name as keyof Limits] ?? value)]),
  );

type RunModelContext = {
  readonly settings: Settings;
  readonly log: (text: string) => void;
  readonly open: (model: ResolvedModel, settings: Settings, host: ModelHost) => Promise<Provider>;
};

/** Opens the model of a run; a router chooses it by the prompt. Only the model that the operator configured may be downloaded. */
async function openRunModel(
  { name, configured }: { readonly name: string | undefined; readonly configured: string | undefined },
  prompt: string,
  label: string | undefined,
  { settings, log, open }: RunModelContext,
): Promise<{ readonly model: ResolvedModel; readonly provider: Provider }> {
  const host: ModelHost = { confirm: async () => false, progress: () => {}, notify: log };
  const model = await resolveModelUnattended({ model: name, isRequested: name !== configured }, settings);
  const warning = formatNoToolsWarning(model);
  if (warning !== undefined) log(warning);
  if (model.router === undefined) return { model, provider: await open(model, settings, host) };
  const { createSessionRouter } = await import('../routing/session-router.ts');
  return (await createSessionRouter(model.router, settings, host)).openFirstModel(prompt, label);
}

/** Parses the settings of a run. A value of the wrong type is an error; unknown settings are ignored. */
function parseRunSettings(settings: JsonObject): RunAgentSettings {
  for (const [key, expected] of Object.entries(settingTypes)) {
    const value = settings[key];
    const isNames = key === 'tools' && Array.isArray(value) && value.every((each) => typeof each === 'string');
    const fits = isNames || (expected === 'object' ? isObject(value) : typeof value === expected);
    if (value === undefined || value === null || fits) continue;
    throw new FairleadError('coding-agent/bad-run', `The run setting ${key} cannot be ${JSON.stringify(value)}.`, {
      blame: 'user',
      hint: `It must be ${expected === 'object' ? 'an object' : `a ${expected}`}.`,
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
  approve: 'string',
  private: 'boolean',
  limits: 'object',
  tools: 'boolean',
  isolation: 'string',
  verify: 'boolean',
};

/** The kinds of runs of the coding agent. */
export type RunKind = 'run' | 'plan' | 'verify';

/** The run handlers of a worker, by the kind of run. */
export const createRunHandlers = (
  notify: (text: string) => void,
  options: RunAgentOptions = {},
): Readonly<Record<RunKind, RunHandler>> => {
  const createAgent = createRunAgentFactory(notify, options);
  return {
    run: createAgentRunHandler(createAgent),
    plan: createPlanRunHandler(notify, createAgent),
    verify: createVerifyRunHandler(notify, options),
  };
};

/** Creates the handler of plans whose steps are done by the agents of a factory. */
export const createPlanRunHandler = (notify: (text: string) => void, createAgent: AgentFactory): RunHandler =>
  createOrchestrationHandler(createPlanOrchestration(createPlanDescriber(createAgent)), () =>
    openTracer(readSettings(), notify),
  );
