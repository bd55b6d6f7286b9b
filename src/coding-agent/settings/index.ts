// The public names of the settings module.
export { readSubagentCaps } from './agent-settings.ts';
export { createSettingsRedactor, createStrictRedactor } from './redactor.ts';
export type { AppDirs } from './dirs.ts';
export { profileVariable, profiles, type Profile, type ProfileName } from './profiles.ts';
export {
  readSettings,
  readSettingsWith,
  type SettingOrigin,
  type Setting,
  type Effort,
  type Settings,
  type SettingsSources,
  checkConfig,
  getUserConfigFile,
} from './settings.ts';
export { getConfigSchema, settingsSchema, getSettingEntry, parseSettingValue } from './schema.ts';
export { parseConfig, readConfig, setConfigValue, getConfigValue, writeConfig } from './config-file.ts';
export { maxJudges } from './verify-settings.ts';
export { formatProjectInstructions } from './project-config.ts';
export { getObjectives } from './objectives.ts';
export {
  changePermissions,
  getPermissionsFile,
  permissionsFile,
  readPermissions,
  type Permissions,
} from './permissions-file.ts';
export {
  formatTrustQuestion,
  openApprovals,
  recordProjectTrust,
  revokeProjectTrust,
  type ProjectFile,
} from './project-suggestions.ts';
