// What is set, as the rest of the terminal uses it.
export type { Places } from './places.ts';
export { readSettings, type Origin, type Setting, type Settings, type Surroundings } from './settings.ts';
