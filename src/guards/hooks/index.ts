// Shell hooks, loaded only where a folder or a person has some.
export { askAbout, nameOf, type HookGround, type HookSaid } from './desk.ts';
export { hooked, type Hooked } from './extension.ts';
export { readHooks } from './files.ts';
export type { Hook } from './hook.ts';
