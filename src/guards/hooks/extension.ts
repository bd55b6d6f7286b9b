// Adds shell hooks to an agent: around its gate and its tools, as an answer check, and as an event listener.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FairleadError,
  isObject,
  isToolOutput,
  readView,
  toolOutput,
  toJson,
  wrapUntrusted,
  type Check,
  type Compactor,
  type Event,
  type Gate,
  type Json,
  type JsonObject,
  type NamedView,
  type Note,
  type ToolOutput,
  type RunState,
  type Stop,
  type Tool,
} from '../../core/index.ts';
import { runHooks, runToolHooks, hookLabel, reportHookErrors, type HookContext, type HookResult } from './run-hooks.ts';
import { haltPrefix, withPreToolHooks } from './hook-gate.ts';
import type { Hook, HookEvent } from './hook.ts';

/** The hooks of a working folder, ready to add to an agent. */
export type HookIntegration = {
  readonly views: readonly NamedView<unknown>[];
  readonly stops: readonly Stop[];
  readonly checks: readonly Check[];
  wrapGate(gate: Gate): Gate;
  wrapTool(tool: Tool): Tool;
  wrapCompactor(compact: Compactor): Compactor;
  /** Runs UserPromptSubmit hooks before a prompt is recorded. Returns text to add to the prompt; throws if a hook blocks it. */
  onPrompt(text: string, state: RunState): Promise<readonly string[]>;
  /** Runs the hooks of an event that was recorded. */
  onEvent(event: Event, state: RunState): void;
  close(): Promise<void>;
};

/** What the log records about hooks in a run. */
type HookState = { readonly halt: string; readonly blocks: number };

const stopCheckName = 'hook/Stop';
const haltNotePrefix = 'hook-halt/';
/** Max wait for hooks when the program exits. */
const closeTimeoutMs = 5000;

const hooksView: NamedView<HookState> = {
  name: 'hooks',
  initial: { halt: '', blocks: 0 },
  on(hookState, event) {
    if (event.type === 'run-started') return hooksView.initial;
    if (event.type === 'check-ended' && event.check === stopCheckName)
      return { ...hookState, blocks: hookState.blocks + 1 };
    if (event.type !== 'tool-ended') return hookState;
    const note = event.notes?.find(({ key }) => key.startsWith(haltNotePrefix));
    const denied = event.deniedBy?.endsRun ? event.text : undefined;
    const halt = note?.text ?? denied;
    return halt === undefined ? hookState : { ...hookState, halt };
  },
  serialize: (hookState) => hookState,
  restore: (stored) =>
    isObject(stored) && typeof stored['halt'] === 'string' && typeof stored['blocks'] === 'number'
      ? (stored as HookState)
      : undefined,
};

/** Creates the integration of hooks with an agent. */
export function createHookIntegration(hookContext: HookContext): HookIntegration {
  const has = (event: HookEvent): boolean => hookContext.hooks.some((hook) => hook.event === event);
  let session = '';
  let started = false;
  const notifications = new Set<Promise<void>>();
  const notify = (kind: string, message: string): void => {
    const running = runNotificationHooks(hookContext, kind, message, session).finally(() =>
      notifications.delete(running),
    );
    notifications.add(running);
  };
  return {
    views: [hooksView],
    stops: [
      (state) =>
        readView(state, hooksView).halt ? { reason: 'rule', detail: readView(state, hooksView).halt } : undefined,
    ],
    checks: has('Stop') ? [createStopCheck(hookContext)] : [],
    wrapGate: (gate) => withPreToolHooks(hookContext, gate),
    wrapTool: (tool) =>
      has('PostToolUse') || has('PostToolUseFailure') || (has('SubagentStop') && tool.name === 'spawn_agent')
        ? withPostToolHooks(hookContext, tool)
        : tool,
    wrapCompactor: (compact) => (has('PreCompact') ? withPreCompactHooks(hookContext, compact) : compact),
    async onPrompt(text, state) {
      session = state.session;
      const first = started ? [] : await runSessionStartHooks(hookContext, state);
      started = true;
      return [...first, ...(await runPromptHooks(hookContext, text, session))];
    },
    onEvent(event, state) {
      session = state.session;
      if (!has('Notification')) return;
      if (event.type === 'approval-requested') {
        const tool = state.calls.find(({ id }) => id === event.call)?.tool ?? 'a tool';
        notify('permission_prompt', `Fairlead needs your permission to use ${tool}`);
      }
      if (event.type === 'run-ended') notify('run_ended', `The run has ended: ${event.reason}`);
    },
    async close() {
      // A notification about the end of the last run would otherwise be ended with the program.
      await Promise.race([Promise.all(notifications), sleep(closeTimeoutMs, undefined, { ref: false })]);
      if (!started) return;
      const hooks = hookContext.hooks.map((hook) => ({ ...hook, timeoutMs: Math.min(hook.timeoutMs, closeTimeoutMs) }));
      reportHookErrors(
        hookContext,
        await runHooks({ ...hookContext, hooks }, 'SessionEnd', ['other'], { reason: 'other' }, session),
      );
    },
  };
}

async function runSessionStartHooks(hookContext: HookContext, { session, turn }: RunState): Promise<readonly string[]> {
  const source = turn > 0 ? 'resume' : 'startup';
  return collectHookContext(hookContext, await runHooks(hookContext, 'SessionStart', [source], { source }, session));
}

async function runPromptHooks(hookContext: HookContext, prompt: string, session: string): Promise<readonly string[]> {
  const results = await runHooks(hookContext, 'UserPromptSubmit', [''], { prompt }, session);
  const blocking = results.find(({ output }) => output.block !== undefined || output.stop !== undefined);
  if (blocking)
    throw new FairleadError(
      'hook/blocked',
      `The hook ${hookLabel(blocking.hook)} blocked this prompt: ${blocking.output.block ?? blocking.output.stop}`,
      { blame: 'user', hint: 'Nothing was sent, and the session does not contain the prompt.' },
    );
  return collectHookContext(hookContext, results);
}

function collectHookContext(hookContext: HookContext, results: readonly HookResult[]): readonly string[] {
  reportHookErrors(hookContext, results);
  return results.flatMap(({ hook, output: { context } }) => {
    if (context === undefined) return [];
    return [hook.isConfined ? wrapConfined(hook, context) : `A ${hook.event} hook of the user adds:\n${context}`];
  });
}

/** Marks text of a hook in the sandbox: a command there can change what the hook runs. */
const wrapConfined = ({ event }: Hook, text: string): string => wrapUntrusted(`the ${event} hook of the project`, text);

async function runNotificationHooks(
  hookContext: HookContext,
  kind: string,
  message: string,
  session: string,
): Promise<void> {
  const payload = { message, notification_type: kind };
  reportHookErrors(hookContext, await runHooks(hookContext, 'Notification', [kind], payload, session));
}

/** Checks an answer with the Stop hooks. A hook that fails does not block. */
const createStopCheck = (hookContext: HookContext): Check => ({
  name: stopCheckName,
  async run(state) {
    const payload = { stop_hook_active: readView(state, hooksView).blocks > 0 };
    const results = await runHooks(hookContext, 'Stop', [''], payload, state.session);
    reportHookErrors(hookContext, results);
    if (results.some(({ output }) => output.stop !== undefined)) return { type: 'passed' };
    const blocking = results.find(({ output }) => output.block !== undefined);
    return blocking ? { type: 'failed', why: blocking.output.block ?? '' } : { type: 'passed' };
  },
});

const withPreCompactHooks = (hookContext: HookContext, compact: Compactor): Compactor => ({
  ...compact,
  async run(state, context) {
    const trigger = context.focus === undefined ? 'auto' : 'manual';
    const payload = { trigger, custom_instructions: context.focus ?? '' };
    reportHookErrors(hookContext, await runHooks(hookContext, 'PreCompact', [trigger], payload, state.session));
    return compact.run(state, context);
  },
});

/** Adds the output of PostToolUse hooks to a tool result. It is part of the same event, so neither is stored without the other. */
const withPostToolHooks = (hookContext: HookContext, tool: Tool): Tool => ({
  ...tool,
  async execute(input, context) {
    const value: unknown = await tool.execute(input, context);
    const failed = isToolOutput(value) && (value.failed === true || value.outcomeUnknown === true);
    const call = { tool: tool.name, input };
    const responseFields = { tool_response: toToolResponse(tool.name, value), tool_use_id: context.call.id };
    const { session } = context.state;
    const results = await runToolHooks(
      hookContext,
      failed ? 'PostToolUseFailure' : 'PostToolUse',
      call,
      responseFields,
      session,
    );
    // A background agent has only started.
    if (tool.name === 'spawn_agent' && !(isObject(input) && input['background'] === true))
      reportHookErrors(
        hookContext,
        await runHooks(hookContext, 'SubagentStop', [''], { stop_hook_active: false }, session),
      );
    reportHookErrors(hookContext, results);
    const notes = results.flatMap((each, i) => hookNotes(each, `${context.call.id}.${i + 1}`));
    return notes.length ? withHookNotes(value, notes) : value;
  },
});

function hookNotes({ hook, output }: HookResult, position: string): readonly Note[] {
  const said = output.block ?? output.context;
  const text = said === undefined ? undefined : hook.isConfined ? wrapConfined(hook, said) : said;
  const halt =
    output.stop === undefined ? [] : [{ key: `${haltNotePrefix}${position}`, text: `${haltPrefix}: ${output.stop}` }];
  if (text === undefined) return halt;
  const key = `hook:${hook.event}/${position}`;
  return [{ key, text, ...(output.block === undefined ? {} : { priority: 50 }) }, ...halt];
}

function withHookNotes(value: unknown, notes: readonly Note[]): ToolOutput {
  const output: Omit<ToolOutput, symbol> = isToolOutput(value) ? value : { text: formatToolValue(value) };
  return toolOutput({ ...output, notes: [...(output.notes ?? []), ...notes] });
}

const formatToolValue = (value: unknown): string =>
  value === undefined ? '(no output)' : typeof value === 'string' ? value : JSON.stringify(toJson(value));

/** Returns a result in the form that hooks expect: the text of a command as stdout, other results as data. */
function toToolResponse(tool: string, value: unknown): Json {
  const text = isToolOutput(value) ? value.text : formatToolValue(value);
  if (tool === 'run_command' || tool === 'execute_sandboxed_command')
    return { stdout: text, stderr: '', interrupted: false, isImage: false };
  const data = isToolOutput(value) && isObject(value.data) ? (toJson(value.data) as JsonObject) : {};
  const { path: file } = data;
  return {
    ...data,
    ...(typeof file === 'string' ? { filePath: file } : {}),
    success: !isToolOutput(value) || !value.failed,
    text,
  };
}
