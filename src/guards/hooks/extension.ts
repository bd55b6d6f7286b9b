// Hooks as parts of an agent: beside its gate, around its tools, as a check of its answers, and as ears for what else happens.
import {
  FairleadError,
  isObject,
  isToolOutput,
  readView,
  toolOutput,
  toJson,
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
import { ask, askAbout, nameOf, tellTrouble, type HookGround, type HookSaid } from './desk.ts';
import { halting, hookedGate } from './gate.ts';
import type { HookEvent } from './hook.ts';

/** The hooks of a working folder, ready for an agent. */
export type Hooked = {
  readonly views: readonly NamedView<unknown>[];
  readonly stops: readonly Stop[];
  readonly checks: readonly Check[];
  gate(gate: Gate): Gate;
  around(tool: Tool): Tool;
  compactor(compact: Compactor): Compactor;
  /** Hears words before they are written down; gives what is to be added to them, and throws where they are not let through. */
  words(text: string, state: RunState): Promise<readonly string[]>;
  /** Hears what happens. */
  told(event: Event, state: RunState): void;
  close(): Promise<void>;
};

/** What the log says of hooks in a run. */
type Heard = { readonly halt: string; readonly blocks: number };

const checkName = 'hook/Stop';
const haltKey = 'hook-halt/';
/** Nobody who leaves waits longer than this for a hook. */
const leavingMs = 5000;

const view: NamedView<Heard> = {
  name: 'hooks',
  initial: { halt: '', blocks: 0 },
  on(heard, event) {
    if (event.type === 'run-started') return view.initial;
    if (event.type === 'check-ended' && event.check === checkName) return { ...heard, blocks: heard.blocks + 1 };
    if (event.type !== 'tool-ended') return heard;
    const note = event.notes?.find(({ key }) => key.startsWith(haltKey));
    const denied = event.deniedBy?.endsRun ? event.text : undefined;
    const halt = note?.text ?? denied;
    return halt === undefined ? heard : { ...heard, halt };
  },
  serialize: (heard) => heard,
  restore: (kept) =>
    isObject(kept) && typeof kept['halt'] === 'string' && typeof kept['blocks'] === 'number'
      ? (kept as Heard)
      : undefined,
};

/** Puts hooks to an agent's parts. */
export function hooked(ground: HookGround): Hooked {
  const has = (event: HookEvent): boolean => ground.hooks.some((hook) => hook.event === event);
  let session = '';
  let started = false;
  return {
    views: [view],
    stops: [
      (state) => (readView(state, view).halt ? { reason: 'rule', detail: readView(state, view).halt } : undefined),
    ],
    checks: has('Stop') ? [stopCheck(ground)] : [],
    gate: (gate) => hookedGate(ground, gate),
    around: (tool) =>
      has('PostToolUse') || has('PostToolUseFailure') || (has('SubagentStop') && tool.name === 'spawn_agent')
        ? listening(ground, tool)
        : tool,
    compactor: (compact) => (has('PreCompact') ? announced(ground, compact) : compact),
    async words(text, state) {
      session = state.session;
      const first = started ? [] : await begun(ground, state);
      started = true;
      return [...first, ...(await submitted(ground, text, session))];
    },
    told(event, state) {
      session = state.session;
      if (event.type === 'approval-requested' && has('Notification')) void notify(ground, event.call, state);
    },
    async close() {
      if (!started) return;
      const hooks = ground.hooks.map((hook) => ({ ...hook, timeoutMs: Math.min(hook.timeoutMs, leavingMs) }));
      tellTrouble(ground, await ask({ ...ground, hooks }, 'SessionEnd', ['other'], { reason: 'other' }, session));
    },
  };
}

async function begun(ground: HookGround, { session, turn }: RunState): Promise<readonly string[]> {
  const source = turn > 0 ? 'resume' : 'startup';
  return contextIn(ground, await ask(ground, 'SessionStart', [source], { source }, session));
}

async function submitted(ground: HookGround, prompt: string, session: string): Promise<readonly string[]> {
  const said = await ask(ground, 'UserPromptSubmit', [''], { prompt }, session);
  const against = said.find(({ answer }) => answer.block !== undefined || answer.stop !== undefined);
  if (against)
    throw new FairleadError(
      'hook/blocked',
      `The hook ${nameOf(against.hook)} does not let these words through: ${against.answer.block ?? against.answer.stop}`,
      { blame: 'user', hint: 'Nothing was sent, and the session does not hold them.' },
    );
  return contextIn(ground, said);
}

function contextIn(ground: HookGround, said: readonly HookSaid[]): readonly string[] {
  tellTrouble(ground, said);
  return said.flatMap(({ hook, answer }) =>
    answer.context === undefined ? [] : [`A ${hook.event} hook of the person adds:\n${answer.context}`],
  );
}

async function notify(ground: HookGround, call: string, { session, calls }: RunState): Promise<void> {
  const tool = calls.find(({ id }) => id === call)?.tool ?? 'a tool';
  const message = `Fairlead needs your permission to use ${tool}`;
  const payload = { message, notification_type: 'permission_prompt' };
  tellTrouble(ground, await ask(ground, 'Notification', ['permission_prompt'], payload, session));
}

/** An answer is held to what the Stop hooks say; one that gives no answer holds nothing up. */
const stopCheck = (ground: HookGround): Check => ({
  name: checkName,
  async run(state) {
    const payload = { stop_hook_active: readView(state, view).blocks > 0 };
    const said = await ask(ground, 'Stop', [''], payload, state.session);
    tellTrouble(ground, said);
    if (said.some(({ answer }) => answer.stop !== undefined)) return { type: 'passed' };
    const against = said.find(({ answer }) => answer.block !== undefined);
    return against ? { type: 'failed', why: against.answer.block ?? '' } : { type: 'passed' };
  },
});

const announced = (ground: HookGround, compact: Compactor): Compactor => ({
  ...compact,
  async run(state, context) {
    const trigger = context.focus === undefined ? 'auto' : 'manual';
    const payload = { trigger, custom_instructions: context.focus ?? '' };
    tellTrouble(ground, await ask(ground, 'PreCompact', [trigger], payload, state.session));
    return compact.run(state, context);
  },
});

/** The tool with what hooks add to its results: notes of the same fact, so that nobody can lose one of the two. */
const listening = (ground: HookGround, tool: Tool): Tool => ({
  ...tool,
  async execute(input, context) {
    const value: unknown = await tool.execute(input, context);
    const failed = isToolOutput(value) && (value.failed === true || value.outcomeUnknown === true);
    const call = { tool: tool.name, input };
    const more = { tool_response: responseOf(tool.name, value), tool_use_id: context.call.id };
    const { session } = context.state;
    const said = await askAbout(ground, failed ? 'PostToolUseFailure' : 'PostToolUse', call, more, session);
    // One in the background has only begun.
    if (tool.name === 'spawn_agent' && !(isObject(input) && input['background'] === true))
      tellTrouble(ground, await ask(ground, 'SubagentStop', [''], { stop_hook_active: false }, session));
    tellTrouble(ground, said);
    const notes = said.flatMap((each, i) => notesOf(each, `${context.call.id}.${i + 1}`));
    return notes.length ? withNotes(value, notes) : value;
  },
});

function notesOf({ hook, answer }: HookSaid, place: string): readonly Note[] {
  const words = answer.block ?? answer.context;
  const halt = answer.stop === undefined ? [] : [{ key: `${haltKey}${place}`, text: `${halting}: ${answer.stop}` }];
  if (words === undefined) return halt;
  const key = `hook:${hook.event}/${place}`;
  return [{ key, text: words, ...(answer.block === undefined ? {} : { priority: 50 }) }, ...halt];
}

function withNotes(value: unknown, notes: readonly Note[]): ToolOutput {
  const given: Omit<ToolOutput, symbol> = isToolOutput(value) ? value : { text: textOf(value) };
  return toolOutput({ ...given, notes: [...(given.notes ?? []), ...notes] });
}

const textOf = (value: unknown): string =>
  value === undefined ? '(no output)' : typeof value === 'string' ? value : JSON.stringify(toJson(value));

/** A result as hooks expect one: a command's words as its output, anything else by its data. */
function responseOf(tool: string, value: unknown): Json {
  const text = isToolOutput(value) ? value.text : textOf(value);
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
