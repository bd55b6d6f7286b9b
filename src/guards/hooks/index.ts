// Shell hooks, loaded only where a folder or a person has some.
export { runToolHooks, hookLabel, type HookContext, type HookResult } from './run-hooks.ts';
export { createHookIntegration, type HookIntegration } from './extension.ts';
export { readHooks } from './files.ts';
export type { Hook } from './hook.ts';
