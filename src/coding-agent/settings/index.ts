// What is set, as the rest of the terminal uses it.
export { createSettingsRedactor, createStrictRedactor } from './redactor.ts';
export type { AppDirs } from './dirs.ts';
export { readSettings, type SettingOrigin, type Setting, type Settings, type SettingsSources } from './settings.ts';
