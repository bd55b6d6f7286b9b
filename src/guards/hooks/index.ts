// Shell hooks, loaded only where a folder or a person has some.
export { ask, askAbout, nameOf, type HookGround, type HookSaid } from './desk.ts';
export { hooked, type Hooked } from './extension.ts';
export { readHooks, type FoundHooks, type NewHooks } from './files.ts';
export { hookEvents, type Hook, type HookEvent } from './hook.ts';
