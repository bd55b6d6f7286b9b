// Where hooks are asked: all that an event concerns, side by side, each with what it is about in the fields that it expects.
import type { JsonObject } from '../../core/index.ts';
import { parseHookOutput, type HookOutput } from './parse-output.ts';
import { toClaudeToolCalls, claudeToolNames, type ClaudeToolCall } from './claude-compat.ts';
import type { Hook, HookEvent } from './hook.ts';
import { runHook } from './hook-process.ts';

/** What hooks are told beside the event, and who hears what they say to a person. */
export type HookContext = {
  readonly hooks: readonly Hook[];
  readonly cwd: string;
  /** The environment of a hook's command, without secrets. */
  readonly env: NodeJS.ProcessEnv;
  /** The file of the session, where there is one. */
  readonly transcriptPath: () => string | undefined;
  readonly permissionMode: () => string;
  readonly notifyUser: (text: string) => void;
};

/** What one hook said, and of which guise of the call. */
export type HookResult = { readonly hook: Hook; readonly toolCall?: ClaudeToolCall; readonly output: HookOutput };

/** How a hook is called in a sentence. */
export function hookLabel({ command, source }: Hook): string {
  const plain = command.replaceAll(/"?\$\{?(?:CLAUDE|FAIRLEAD)_PROJECT_DIR\}?"?\//g, '');
  return plain === '' ? `of ${source}` : `"${plain.length > 80 ? `${plain.slice(0, 79)}…` : plain}"`;
}

/** Asks the hooks of an event that match one of these names. */
export async function runHooks(
  ground: HookContext,
  event: HookEvent,
  names: readonly string[],
  payload: JsonObject,
  session: string,
): Promise<readonly HookResult[]> {
  const meant = ground.hooks.filter((hook) => hook.event === event && names.some((name) => hook.matches(name)));
  // The same command in two files is one.
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

/** Asks the hooks of an event about a call, in each guise that it has for them. */
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

/** Tells the person of hooks that gave no answer, where nothing depends on it. */
export function reportHookErrors({ notifyUser }: Pick<HookContext, 'notifyUser'>, said: readonly HookResult[]): void {
  for (const { hook, output } of said)
    if (output.error !== undefined)
      notifyUser(`The ${hook.event} hook ${hookLabel(hook)} gave no answer: ${output.error}.`);
}
