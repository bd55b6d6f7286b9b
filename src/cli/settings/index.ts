// What is set, as the rest of the terminal uses it.
export { keeperFor, strictKeeper } from './keeper.ts';
export type { Places } from './places.ts';
export { readSettings, type Origin, type Setting, type Settings, type Surroundings } from './settings.ts';
