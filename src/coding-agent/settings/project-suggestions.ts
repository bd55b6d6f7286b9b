// Settings that files of a project suggest: used only where the user has set nothing, and only after the user trusted the exact content.
import { hash } from 'node:crypto';
import path from 'node:path';
import { canonicalJson, errorMessage, escapeInvisibleLine, type JsonObject } from '../../core/index.ts';
import { fileTrust, type ContentApproval, type TrustStatus, type TrustStore } from '../../guards/trust/index.ts';
import { families, type Environment } from '../../providers/index.ts';
import { getConfigValue } from './config-file.ts';
import type { EnvFile } from './env-files.ts';
import { parseSettingValue, settingsSchema, type SettingEntry } from './schema.ts';
import type { Setting } from './settings.ts';

/** A file of a project that suggests settings, and whether the user trusts its content. */
export type ProjectFile = {
  readonly file: string;
  readonly status: TrustStatus | 'refused';
  /** Everything the file suggests, one line each; keys are masked. */
  readonly lines: readonly string[];
  /** The names of what would be used, because the user has not set it. */
  readonly used: readonly string[];
  readonly approval: ContentApproval;
};

/** The settings of trusted files, and the files. */
export type ProjectSuggestions = {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly files: readonly ProjectFile[];
  readonly warnings: readonly string[];
};

type Suggestion = { readonly key: string; readonly name: string; readonly setting: Setting };

type SuggestionSources = {
  readonly envFile: EnvFile | undefined;
  readonly project: { readonly file: string; readonly config: JsonObject } | undefined;
  /** The settings of the user, without defaults. */
  readonly own: ReadonlyMap<string, Setting>;
  readonly env: Environment;
  /** The state directory of the user, which has the approvals. */
  readonly stateDir: string;
};

/** Opens the approvals of a state directory. */
export const openApprovals = (stateDir: string): TrustStore => fileTrust(path.join(stateDir, 'approved.json'));

/** Reads what the files of a project suggest. An invalid value is a warning: the user can work without it. */
export function readProjectSuggestions(sources: SuggestionSources): ProjectSuggestions {
  const warnings: string[] = [];
  const { envFile, project } = sources;
  const found = [
    ...(envFile ? [{ file: envFile.file, kind: 'env-file', all: parseEnvSuggestions(envFile, warnings) }] : []),
    ...(project
      ? [{ file: project.file, kind: 'project-config', all: parseConfigSuggestions(project, warnings) }]
      : []),
  ];
  const settings = new Map<string, Setting>();
  const files: ProjectFile[] = [];
  for (const { file, kind, all } of found) {
    if (all.length === 0) continue;
    const content = Object.fromEntries(all.map(({ name, setting }) => [name, setting.value]));
    const approval = { subject: `${kind} ${file}`, hash: hash('sha256', canonicalJson(content)) };
    const usable = all.filter(({ key }) => !isDecidedByUser(key, sources));
    const used = usable.map(({ name }) => name);
    const status = checkStatus(approval, sources.stateDir, warnings);
    files.push({ file, status, lines: all.map(formatSuggestion), used, approval });
    if (status === 'approved') for (const { key, setting } of usable) settings.set(key, setting);
    else if (used.length > 0 && status !== 'refused') warnings.push(formatUntrusted(file, used, status));
  }
  return { settings, files, warnings };
}

/** Stores the answer of the user about a file, for its present content. */
export function recordProjectTrust(stateDir: string, { approval }: ProjectFile, isTrusted: boolean): void {
  const trust = openApprovals(stateDir);
  if (isTrusted) trust.revoke(toRefusal(approval).subject);
  trust.approve([isTrusted ? approval : toRefusal(approval)]);
}

/** Removes the answer of the user about a file. Returns false if there was none. */
export function revokeProjectTrust(stateDir: string, { approval }: ProjectFile): boolean {
  const trust = openApprovals(stateDir);
  return [approval, toRefusal(approval)].map(({ subject }) => trust.revoke(subject)).includes(true);
}

/** The question about a file of a project; its lines are the detail. */
export const formatTrustQuestion = ({ file, status }: ProjectFile): string =>
  `Use the settings of this project, ${escapeInvisibleLine(file)}? They apply where you have set nothing yourself.${
    status === 'changed' ? ' They changed since you trusted them.' : ''
  }`;

/** A refusal is stored like an approval: the user is asked once for each content. */
const toRefusal = ({ subject, hash: digest }: ContentApproval): ContentApproval => ({
  subject: `refused ${subject}`,
  hash: digest,
});

/** Approvals that cannot be read approve nothing. */
function checkStatus(approval: ContentApproval, stateDir: string, warnings: string[]): ProjectFile['status'] {
  try {
    const trust = openApprovals(stateDir);
    const status = trust.check(approval);
    return status !== 'approved' && trust.check(toRefusal(approval)) === 'approved' ? 'refused' : status;
  } catch (error) {
    warnings.push(errorMessage(error));
    return 'new';
  }
}

function parseEnvSuggestions({ file, values }: EnvFile, warnings: string[]): readonly Suggestion[] {
  return Object.entries(settingsSchema).flatMap(([key, entry]) => {
    const { variable: name = '' } = entry;
    const text = values[name];
    if (text === undefined) return [];
    const value = tryParse(key, entry, text, `${name} in ${file}`, warnings);
    if (value === undefined) return [];
    // If a project could name any program here, it could run any program.
    if (key === 'sandbox.engine' && value !== 'podman' && value !== 'docker') {
      warnings.push(`${name} in ${file} is not used: such a file may only name podman or docker.`);
      return [];
    }
    return [{ key, name, setting: { value, origin: { type: 'env-file', name, file } } }];
  });
}

function parseConfigSuggestions(
  { file, config }: NonNullable<SuggestionSources['project']>,
  warnings: string[],
): readonly Suggestion[] {
  return Object.entries(settingsSchema).flatMap(([key, entry]) => {
    const given = entry.project === 'suggests' ? getConfigValue(config, key) : undefined;
    const value = given === undefined ? undefined : tryParse(key, entry, given, `${key} in ${file}`, warnings);
    return value === undefined ? [] : [{ key, name: key, setting: { value, origin: { type: 'project', file } } }];
  });
}

function tryParse(
  key: string,
  entry: SettingEntry,
  value: unknown,
  where: string,
  warnings: string[],
): Setting['value'] | undefined {
  try {
    const parsed = parseSettingValue(key, entry, value, where);
    // The whole value is shown in the question, which it must not fill.
    if (entry.secret || String(parsed).length <= maxShownLength) return parsed;
    warnings.push(`${where} is not used: it is longer than ${maxShownLength} characters.`);
    return undefined;
  } catch (error) {
    warnings.push(`${errorMessage(error)} It is not used.`);
    return undefined;
  }
}

const maxShownLength = 300;

const endpointKeys = ['provider', 'url', 'model'];

/** Whether the user has set this. Provider, URL and model are one decision, and so are all key variables of one provider. */
function isDecidedByUser(key: string, { own, env }: SuggestionSources): boolean {
  if (endpointKeys.includes(key))
    return endpointKeys.some((each) => own.has(each)) || localUrlVariables.some((name) => env[name]?.trim());
  const related = families.filter(({ keyVariables }) => keyVariables.some((name) => key === `keys.${name}`));
  return [key, ...related.flatMap(({ keyVariables }) => keyVariables.map((name) => `keys.${name}`))].some((each) =>
    own.has(each),
  );
}

const localUrlVariables = families.flatMap(({ local, urlVariables }) => (local ? urlVariables : []));

const formatSuggestion = ({ key, name, setting: { value } }: Suggestion): string =>
  escapeInvisibleLine(
    `${name}=${settingsSchema[key]?.secret ? `(a key of ${String(value).length} characters)` : String(value)}`,
  );

function formatUntrusted(file: string, used: readonly string[], status: TrustStatus): string {
  const why = status === 'changed' ? 'it changed since you trusted it' : 'you have not trusted it';
  const shown = escapeInvisibleLine(file);
  return `${used.join(', ')} in ${shown} ${used.length === 1 ? 'is' : 'are'} not used: ${why}. To read and trust the file, run "fairlead trust" in ${path.dirname(shown)}.`;
}
