// Runs all hooks that match an event, in parallel, with the input fields that they expect.
import type { JsonObject } from '../../core/index.ts';
import { parseHookOutput, type HookOutput } from './parse-output.ts';
import { toClaudeToolCalls, claudeToolNames, type ClaudeToolCall } from './claude-compat.ts';
import type { Hook, HookEvent } from './hook.ts';
import { runHook } from './hook-process.ts';

/** The context of hooks besides the event, and the callback for messages to the user. */
export type HookContext = {
  readonly hooks: readonly Hook[];
  readonly cwd: string;
  /** The environment of hook commands, without secrets. */
  readonly env: NodeJS.ProcessEnv;
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
  ground: HookContext,
  event: HookEvent,
  names: readonly string[],
  payload: JsonObject,
  session: string,
): Promise<readonly HookResult[]> {
  const meant = ground.hooks.filter((hook) => hook.event === event && names.some((name) => hook.matches(name)));
  // The same command in two files runs once.
  const once = [...new Map(meant.map((hook) => [hook.invalidReason ?? hook.command, hook])).values()];
  const said = await Promise.all(once.map(async (hook) => runSingleHook(ground, hook, payload, session)));
  for (const { output } of said) if (output.message !== undefined) ground.notifyUser(output.message);
  return said;
}

async function runSingleHook(
  ground: HookContext,
  hook: Hook,
  payload: JsonObject,
  session: string,
): Promise<HookResult> {
  const { cwd, env } = ground;
  const common = {
    session_id: session,
    transcript_path: ground.transcriptPath() ?? '',
    cwd,
    permission_mode: ground.permissionMode(),
    hook_event_name: hook.event,
  };
  const ran = await runHook(
    hook,
    { ...common, ...payload },
    { cwd, env: { ...env, CLAUDE_PROJECT_DIR: cwd, FAIRLEAD_PROJECT_DIR: cwd } },
  );
  return { hook, output: parseHookOutput(hook.event, ran) };
}

/** Runs the hooks of an event for a call, once for each converted form of the call. */
export async function runToolHooks(
  ground: HookContext,
  event: HookEvent,
  call: Parameters<typeof toClaudeToolCalls>[0],
  more: JsonObject,
  session: string,
): Promise<readonly HookResult[]> {
  const said: HookResult[] = [];
  for (const guise of toClaudeToolCalls(call, ground.cwd)) {
    const payload = { tool_name: guise.name, tool_input: guise.input, fairlead_tool: call.tool, ...more };
    const heard = await runHooks(ground, event, claudeToolNames(call.tool, guise), payload, session);
    said.push(...heard.map((each) => ({ ...each, toolCall: guise })));
  }
  return said;
}

/** Reports hooks that failed to the user, where no decision depends on them. */
export function reportHookErrors({ notifyUser }: Pick<HookContext, 'notifyUser'>, said: readonly HookResult[]): void {
  for (const { hook, output } of said)
    if (output.error !== undefined) notifyUser(`The ${hook.event} hook ${hookLabel(hook)} failed: ${output.error}.`);
}
