// Runs all hooks that match an event, in parallel, with the input fields that they expect.
import type { JsonObject } from '../../core/index.ts';
import { parseHookOutput, type HookOutput } from './parse-output.ts';
import { toClaudeToolCalls, claudeToolNames, type ClaudeToolCall } from './claude-compat.ts';
import type { Hook, HookEvent } from './hook.ts';
import { failedHookResult, runHook } from './hook-process.ts';
import { runConfinedHook, type ConfinedExec } from './confined-hook.ts';

/** The context of hooks besides the event, and the callback for messages to the user. */
export type HookContext = {
  readonly hooks: readonly Hook[];
  readonly cwd: string;
  /** The environment of hook commands, without secrets. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs a program inside the sandbox. Without it, hooks of the project fail. */
  readonly execConfined?: ConfinedExec;
  /** Returns the session file, if there is one. */
  readonly transcriptPath: () => string | undefined;
  readonly permissionMode: () => string;
  readonly notifyUser: (text: string) => void;
};

/** The output of one hook, and the converted call it was given. */
export type HookResult = { readonly hook: Hook; readonly toolCall?: ClaudeToolCall; readonly output: HookOutput };

/** Returns how messages name a hook. */
export function hookLabel({ command, source }: Hook): string {
  const plain = command.replaceAll(/"?\$\{?(?:CLAUDE|FAIRLEAD)_PROJECT_DIR\}?"?\//g, '');
  return plain === '' ? `of ${source}` : `"${plain.length > 80 ? `${plain.slice(0, 79)}…` : plain}"`;
}

/** Runs the hooks of an event that match one of these names. */
export async function runHooks(
  context: HookContext,
  event: HookEvent,
  names: readonly string[],
  payload: JsonObject,
  session: string,
): Promise<readonly HookResult[]> {
  const matchingHooks = context.hooks.filter(
    (hook) => hook.event === event && names.some((name) => hook.matches(name)),
  );
  // The same command in two files runs once, but a hook of the project does not replace one of the user.
  const identify = ({ invalidReason, command, isConfined }: Hook): string =>
    `${isConfined ?? false} ${invalidReason ?? command}`;
  const uniqueHooks = [...new Map(matchingHooks.map((hook) => [identify(hook), hook])).values()];
  const results = await Promise.all(uniqueHooks.map(async (hook) => runSingleHook(context, hook, payload, session)));
  for (const { output } of results) if (output.message !== undefined) context.notifyUser(output.message);
  return results;
}

async function runSingleHook(
  context: HookContext,
  hook: Hook,
  payload: JsonObject,
  session: string,
): Promise<HookResult> {
  const { cwd, env } = context;
  const common = {
    session_id: session,
    transcript_path: context.transcriptPath() ?? '',
    cwd,
    permission_mode: context.permissionMode(),
    hook_event_name: hook.event,
  };
  const input = { ...common, ...payload };
  if (hook.isConfined && hook.invalidReason === undefined) {
    const { execConfined: exec } = context;
    const result = exec ? await runConfinedHook(hook, input, { cwd, exec }) : failedHookResult('there is no sandbox');
    return { hook, output: parseHookOutput(hook.event, result) };
  }
  const processResult = await runHook(hook, input, {
    cwd,
    env: { ...env, CLAUDE_PROJECT_DIR: cwd, FAIRLEAD_PROJECT_DIR: cwd },
  });
  return { hook, output: parseHookOutput(hook.event, processResult) };
}

/** Runs the hooks of an event for a call, once for each converted form of the call. */
export async function runToolHooks(
  context: HookContext,
  event: HookEvent,
  call: Parameters<typeof toClaudeToolCalls>[0],
  more: JsonObject,
  session: string,
): Promise<readonly HookResult[]> {
  const results: HookResult[] = [];
  for (const converted of toClaudeToolCalls(call, context.cwd)) {
    const payload = { tool_name: converted.name, tool_input: converted.input, fairlead_tool: call.tool, ...more };
    const callResults = await runHooks(context, event, claudeToolNames(call.tool, converted), payload, session);
    results.push(...callResults.map((each) => ({ ...each, toolCall: converted })));
  }
  return results;
}

/** Reports hooks that failed to the user, where no decision depends on them. */
export function reportHookErrors(
  { notifyUser }: Pick<HookContext, 'notifyUser'>,
  results: readonly HookResult[],
): void {
  for (const { hook, output } of results)
    if (output.error !== undefined) notifyUser(`The ${hook.event} hook ${hookLabel(hook)} failed: ${output.error}.`);
}
