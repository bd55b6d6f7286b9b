// Reads the settings and the origin of each: the environment, the `.env` file and the config file of the user, then what files of a project may add.
import type { FlowMode, PermissionMode } from '../../guards/index.ts';
import path from 'node:path';
import type { Json, JsonObject, Limits, Spotlight } from '../../core/index.ts';
import { findFamily, type Environment } from '../../providers/index.ts';
import { readConfig, getConfigValue } from './config-file.ts';
import { readEnvFiles, type EnvFile } from './env-files.ts';
import { withConfiguredKeys } from './configured-env.ts';
import { getAppDirs, getHome, readAppDirs, toDirSettings, type AppDirs } from './dirs.ts';
import { formatOwnEnvFileDecisions, formatProjectDecisions } from './file-decisions.ts';
import { profiles, type Profile, type ProfileName } from './profiles.ts';
import { applyProjectConfig, readProjectConfig, type ProjectConfig } from './project-config.ts';
import { readProjectSuggestions, type ProjectFile } from './project-suggestions.ts';
import { getConfigSchema, parseSettingValue, type SettingEntry, type SettingValue } from './schema.ts';
import { toTerminalSettings, type TerminalSettings } from './terminal-settings.ts';

/** The origin of a value. */
export type SettingOrigin =
  | { readonly type: 'environment'; readonly name: string }
  | { readonly type: 'env-file'; readonly name: string; readonly file: string }
  | { readonly type: 'project'; readonly file: string }
  | { readonly type: 'user'; readonly file: string }
  | { readonly type: 'default' };

/** A reasoning effort as a user names it. */
export type Effort = 'off' | 'low' | 'medium' | 'high';

/** A value and its origin. */
export type Setting = { readonly value: SettingValue; readonly origin: SettingOrigin };

/** The settings of the program. */
export type Settings = TerminalSettings & {
  /** The profile, which has the defaults. */
  readonly profile: Profile;
  readonly rootName: string;
  readonly dirs: AppDirs;
  /** The configured provider; absent if the program chooses one. A URL alone means `ollama`. */
  readonly provider: string | undefined;
  /** The configured URL of that provider, if it is one that runs on the user's own machines. */
  readonly url: string | undefined;
  /** Whether the provider or its URL is configured. */
  readonly declared: boolean;
  readonly model: string | undefined;
  /** Short names of models, which the user defined: `fast` for `ollama/qwen3:8b`. */
  readonly modelNames: Readonly<Record<string, string>>;
  /** Whether the user is asked before a missing list of models is fetched from the configured provider. */
  readonly refresh: 'auto' | 'ask';
  /** Which starts save their model as the last one. */
  readonly remember: 'interactive' | 'always';
  /** The instructions of the user. */
  readonly instructions: string | undefined;
  /** The instructions of the project's config file; a change of them counts only after the user accepted it. */
  readonly projectInstructions: { readonly file: string; readonly text: string } | undefined;
  readonly stream: boolean;
  /** The reasoning effort; absent if the model decides. */
  readonly effort: Effort | undefined;
  readonly approve: PermissionMode;
  /** What the flow policy does about calls that untrusted text decides about. */
  readonly flowMode: FlowMode | 'off';
  /** How the model sees text from files, programs and networks. */
  readonly spotlight: Spotlight;
  /** Whether what an answer says was done is compared with the log. */
  readonly verifiesActions: boolean;
  /** Whether the answer of every run is verified. */
  readonly verifiesAnswers: boolean;
  readonly limits: Partial<Limits>;
  readonly sandbox: { readonly engine: string; readonly image: string; readonly volume: string };
  /** Where the commands of the model run: with `run_command` in the sandbox of this machine, or with `execute_sandboxed_command` in a container. */
  readonly commands: 'local' | 'container';
  /** What `/session edit` opens: the messages as text, or the log file. */
  readonly sessionEdit: 'messages' | 'log';
  /** What gives a new session its title. */
  readonly sessionTitle: 'message' | 'model';
  /** What `/continue` sends after a complete answer: a short message, or only the current state of the session. */
  readonly continueWith: 'message' | 'state';
  /** The hosts that commands in the sandbox may reach. */
  readonly openHosts: readonly string[];
  /** The hosts on a private network that tools may reach. */
  readonly privateHosts: readonly string[];
  /** The language servers of the user's and the project's config file, not parsed. */
  readonly languageServers: { readonly user: Json | undefined; readonly project: Json | undefined };
  /** The routers of the user's config file, not parsed. */
  readonly routers: Json | undefined;
  /** The rate limits of the user's config file, not parsed. */
  readonly rateLimits?: Json;
  /** The tenant whose queued run uses the settings; absent outside of a fleet. */
  readonly tenant?: string;
  /** Whether only models on the user's own machines may be used. */
  readonly private: boolean;
  /** The environment with the keys of the config files, for opening and listing models. Never pass it to a child process. */
  readonly env: Environment;
  /** Every setting that has a value, by its key, and the directories as `dirs.state` and so on. */
  readonly all: ReadonlyMap<string, Setting>;
  /** The path of the user's config file, which may not exist. */
  readonly userFile: string;
  /** The files of the project that suggest settings, trusted or not. */
  readonly projectFiles: readonly ProjectFile[];
  /** One sentence for each value that is not used, and for what a `.env` file or a project decides. */
  readonly warnings: readonly string[];
};

/** The sources of the settings; by default those of this process. */
export type SettingsSources = {
  readonly env?: Environment;
  readonly cwd?: string;
  readonly platform?: NodeJS.Platform;
  /** The profile; by default that of `HARNESS_PROFILE`, of the config file of the user, or `fairlead`. */
  readonly profile?: ProfileName;
  /** Directories that replace those of the environment. */
  readonly dirs?: Partial<AppDirs>;
};

type ConfigSources = {
  readonly env: Environment;
  readonly envFile: EnvFile | undefined;
  readonly user: { readonly file: string; readonly config: JsonObject };
  readonly project: ProjectConfig | undefined;
};

/** The path of the user's config file, which may not exist. */
export function getUserConfigFile(from: Omit<SettingsSources, 'cwd'> = {}): string {
  const { env = process.env, platform = process.platform, dirs } = from;
  return path.join(dirs?.config ?? getAppDirs(env, getHome(env), platform).config, 'config.json');
}

/** Throws an error if a value in a config is invalid. */
export function checkConfig(config: JsonObject, where: string): void {
  for (const [key, entry] of Object.entries(getConfigSchema(config))) {
    const value = getConfigValue(config, key);
    if (value !== undefined) parseSettingValue(key, entry, value, `${key} in ${where}`);
  }
}

/** Reads the settings from a few small files. Throws an error for an invalid value of the environment or of a file of the user. */
export function readSettings(from: SettingsSources = {}): Settings {
  const { env = process.env, cwd = process.cwd(), platform = process.platform } = from;
  const envFiles = readEnvFiles(cwd, getHome(env));
  const userFile = getUserConfigFile(from);
  const { found: project, warnings: projectWarnings } = readProjectConfig(cwd, userFile);
  const sources: ConfigSources = {
    env,
    envFile: envFiles.own,
    user: { file: userFile, config: readConfig(userFile) },
    project,
  };
  const warnings = [...Object.values(envFiles).flatMap((each) => each?.warnings ?? []), ...projectWarnings];
  const own = new Map<string, Setting>();
  const schema = getConfigSchema(sources.user.config);
  for (const [key, entry] of Object.entries(schema)) {
    const setting = resolveUserSetting(key, entry, sources, warnings);
    if (setting) own.set(key, setting);
  }
  const profile = profiles[from.profile ?? (own.get('profile')?.value as ProfileName | undefined) ?? 'fairlead'];
  const dirs = { ...readAppDirs(env, envFiles.own, platform, profile.rootName), ...from.dirs };
  const suggested = readProjectSuggestions({ envFile: envFiles.project, project, own, env, stateDir: dirs.state });
  warnings.push(...suggested.warnings);
  const all = new Map<string, Setting>(toDirSettings(dirs, env, envFiles.own));
  for (const [key, entry] of Object.entries(schema)) {
    const chosen = own.get(key) ?? suggested.settings.get(key) ?? getDefault(key, profile);
    const setting = applyProjectConfig(key, entry, chosen, project, warnings);
    if (setting) all.set(key, setting);
  }
  if (from.profile !== undefined) all.set('profile', { value: profile.name, origin: { type: 'default' } });
  const parsed = toSettings(all);
  const { type } = all.get('url')?.origin ?? {};
  if (type !== undefined && parsed.url === undefined)
    warnings.push(
      `${type === 'user' ? 'url' : 'OLLAMA_API_URL'} is not used: ${parsed.provider} is not a server of your own.`,
    );
  warnings.push(...formatOwnEnvFileDecisions(envFiles.own, all), ...formatProjectDecisions(suggested.files, all));
  const added = all.get('instructions');
  const rateLimits = getConfigValue(sources.user.config, 'rateLimits');
  return {
    ...parsed,
    profile,
    instructions: own.get('instructions')?.value as string | undefined,
    projectInstructions:
      project && added?.origin.type === 'project'
        ? { file: project.file, text: String(getConfigValue(project.config, 'instructions')) }
        : undefined,
    languageServers: {
      user: getConfigValue(sources.user.config, 'languageServers'),
      project: project && getConfigValue(project.config, 'languageServers'),
    },
    routers: getConfigValue(sources.user.config, 'routers'),
    ...(rateLimits === undefined ? {} : { rateLimits }),
    rootName: path.basename(dirs.data),
    dirs,
    env: withConfiguredKeys(env, all),
    all,
    userFile,
    projectFiles: suggested.files,
    warnings,
  };
}

/** Reads the settings with another config directory, such as that of a release; only keys and rate limits are those of the user. */
export function readSettingsWith(cwd: string, configDir: string | undefined): Settings {
  const own = readSettings({ cwd });
  if (configDir === undefined) return own;
  const { rateLimits: _, ...other } = readSettings({ cwd, env: own.env, dirs: { ...own.dirs, config: configDir } });
  return own.rateLimits === undefined ? other : { ...other, rateLimits: own.rateLimits };
}

/** The value that the user set; absent if there is none. */
function resolveUserSetting(
  key: string,
  entry: SettingEntry,
  { env, envFile, user }: ConfigSources,
  warnings: string[],
): Setting | undefined {
  const { variable } = entry;
  if (variable !== undefined) {
    const given = env[variable]?.trim();
    if (given)
      return { value: parseSettingValue(key, entry, given, variable), origin: { type: 'environment', name: variable } };
    const near = envFile?.values[variable];
    if (envFile && near !== undefined) {
      const origin: SettingOrigin = { type: 'env-file', name: variable, file: envFile.file };
      const value = parseSettingValue(key, entry, near, `${variable} in ${envFile.file}`);
      // If a project could name any program here, it could run any program.
      if (key !== 'sandbox.engine' || value === 'podman' || value === 'docker') return { value, origin };
      warnings.push(`${variable} in ${envFile.file} is not used: such a file may only name podman or docker.`);
    }
  }
  const kept = getConfigValue(user.config, key);
  if (kept !== undefined)
    return {
      value: parseSettingValue(key, entry, kept, `${key} in ${user.file}`),
      origin: { type: 'user', file: user.file },
    };
  return undefined;
}

function getDefault(key: string, { name, defaults }: Profile): Setting | undefined {
  const value = key === 'profile' ? name : defaults[key];
  return value === undefined ? undefined : { value, origin: { type: 'default' } };
}

function toSettings(
  all: ReadonlyMap<string, Setting>,
): Omit<
  Settings,
  | 'profile'
  | 'rootName'
  | 'dirs'
  | 'env'
  | 'all'
  | 'userFile'
  | 'projectFiles'
  | 'warnings'
  | 'languageServers'
  | 'routers'
  | 'instructions'
  | 'projectInstructions'
> {
  const text = (key: string): string | undefined => all.get(key)?.value as string | undefined;
  const url = text('url');
  const provider = text('provider') ?? (url === undefined ? undefined : 'ollama');
  const limits = ['turns', 'tokens', 'usd', 'ms', 'calls'].flatMap((name) => {
    const limit = all.get(`limits.${name}`);
    return limit ? [[name, limit.value]] : [];
  });
  return {
    provider,
    // The key of a hosted provider must not be sent to the URL of a local server.
    url: provider !== undefined && findFamily(provider)?.local ? url : undefined,
    declared: provider !== undefined,
    model: text('model'),
    modelNames: Object.fromEntries(
      [...all].flatMap(([key, { value }]) => (key.startsWith('models.') ? [[key.slice(7), String(value)]] : [])),
    ),
    refresh: text('refresh') === 'ask' ? 'ask' : 'auto',
    remember: text('remember') === 'always' ? 'always' : 'interactive',
    stream: all.get('stream')?.value === true,
    effort: text('effort') as Effort | undefined,
    ...toTerminalSettings(all),
    verifiesActions: all.get('verify.actions')?.value !== false,
    verifiesAnswers: all.get('verify.answers')?.value === true,
    approve: (text('approve') ?? 'ask') as PermissionMode,
    spotlight: (text('spotlight') ?? 'delimiters') as Spotlight,
    flowMode: (text('flow') ?? 'ask') as Settings['flowMode'],
    limits: Object.fromEntries(limits) as Partial<Limits>,
    sandbox: {
      engine: text('sandbox.engine') ?? '',
      image: text('sandbox.image') ?? '',
      volume: text('sandbox.volume') ?? '',
    },
    commands: text('sandbox.commands') === 'container' ? 'container' : 'local',
    sessionTitle: text('session.title') === 'model' ? 'model' : 'message',
    sessionEdit: text('session.edit') === 'log' ? 'log' : 'messages',
    continueWith: text('session.continue') === 'state' ? 'state' : 'message',
    openHosts: text('sandbox.hosts')?.split(/ +/) ?? [],
    private: all.get('private')?.value === true,
    privateHosts: text('network.private')?.split(/ +/) ?? [],
  };
}
