// The public names of the settings module.
export { createSettingsRedactor, createStrictRedactor } from './redactor.ts';
export type { AppDirs } from './dirs.ts';
export { readSettings, type SettingOrigin, type Setting, type Settings, type SettingsSources } from './settings.ts';
