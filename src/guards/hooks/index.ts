// Public API of shell hooks. Loaded only if the folder or the user has hooks.
export { runToolHooks, hookLabel, type HookContext, type HookResult } from './run-hooks.ts';
export { createHookIntegration, type HookIntegration } from './extension.ts';
export { readHooks, type LoadedHooks } from './files.ts';
export type { Hook } from './hook.ts';
export { findHookFiles } from './locations.ts';
