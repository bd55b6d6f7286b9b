// Parses hook definitions: which command runs at which event, for which tools.
import { isObject, errorMessage } from '../../core/index.ts';
import type { BoundFile } from '../bound-files.ts';

/** The events at which a hook can run. */
const hookEvents = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'Stop',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
  'PreCompact',
  'Notification',
] as const;

/** An event at which a hook can run. */
export type HookEvent = (typeof hookEvents)[number];

/** One command at one event. */
export type Hook = {
  readonly event: HookEvent;
  /** Returns true if the hook applies to a tool, a source or a trigger of this name. */
  readonly matches: (name: string) => boolean;
  readonly matcher: string;
  readonly command: string;
  readonly timeoutMs: number;
  /** The file that defines the hook. */
  readonly source: string;
  /** Why the hook can never run. A guard that cannot run denies. */
  readonly invalidReason?: string;
  /** A call that the hook must stop. `fairlead doctor` uses it to test the hook. */
  readonly example?: { readonly tool: string; readonly input: unknown };
  /** The project files that it runs, as they were approved. */
  readonly scripts?: readonly BoundFile[];
  /** True for a hook of the project, and for one that takes its program from the working folder: it runs inside the sandbox, because sandboxed commands can write what it runs. */
  readonly isConfined?: true;
};

/** Runs work and returns true; returns false if it took too long and was aborted. */
export type CompletesInTime = (work: () => void) => boolean;

const runToEnd: CompletesInTime = (work) => {
  work();
  return true;
};

const defaultTimeoutMs = 60_000;
const maxTimeoutMs = 10 * 60_000;

/** Parses the hooks of a file. Returns them with a list of problems. */
export function parseHooks(
  data: unknown,
  source: string,
  completesInTime: CompletesInTime = runToEnd,
): { readonly hooks: readonly Hook[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const hooks: Hook[] = [];
  if (!isObject(data)) return { hooks, problems: ['its hooks are not an object of events'] };
  for (const [event, groups] of Object.entries(data)) {
    if (!isHookEvent(event)) {
      problems.push(`there is no event "${event}", so its hooks do not run`);
      continue;
    }
    if (!Array.isArray(groups)) {
      hooks.push(invalidHook(event, source, `the hooks of ${event} are not a list`));
      continue;
    }
    for (const group of groups as readonly unknown[])
      hooks.push(...parseHookGroup(group, event, source, completesInTime));
  }
  for (const { event, invalidReason } of hooks)
    if (invalidReason !== undefined) problems.push(`a hook of ${event}: ${invalidReason}`);
  return { hooks, problems };
}

const isHookEvent = (name: string): name is HookEvent => (hookEvents as readonly string[]).includes(name);

/** Replaces a hook definition that cannot be parsed. It matches everything, so that no call bypasses a guard that was not understood. */
const invalidHook = (event: HookEvent, source: string, invalidReason: string): Hook => ({
  ...emptyHook(event, source),
  invalidReason,
});

const emptyHook = (event: HookEvent, source: string): Hook => ({
  event,
  matches: () => true,
  matcher: '',
  command: '',
  timeoutMs: defaultTimeoutMs,
  source,
});

function parseHookGroup(
  group: unknown,
  event: HookEvent,
  source: string,
  completesInTime: CompletesInTime,
): readonly Hook[] {
  const { matcher = '', hooks } = isObject(group) ? group : {};
  if (!Array.isArray(hooks)) return [invalidHook(event, source, 'it has no list of hooks')];
  if (typeof matcher !== 'string') return [invalidHook(event, source, 'its matcher is not a string')];
  try {
    const matches = compileHookMatcher(matcher, completesInTime);
    return (hooks as readonly unknown[]).map((each) => ({ ...parseHook(each, event, source), matches, matcher }));
  } catch (error) {
    return [invalidHook(event, source, `its matcher is not valid: ${errorMessage(error)}`)];
  }
}

/** A matcher of plain names matches exactly these names; any other matcher is a regular expression that may match anywhere. */
function compileHookMatcher(matcher: string, completesInTime: CompletesInTime): Hook['matches'] {
  if (matcher === '' || matcher === '*') return () => true;
  if (/^[\w|]+$/.test(matcher)) {
    const names = matcher.split('|');
    return (name) => names.includes(name);
  }
  const pattern = new RegExp(matcher);
  return (name) => {
    let isMatch = true;
    // A guard whose matcher takes too long runs: it must not be bypassed by the name of a tool.
    return !completesInTime(() => (isMatch = pattern.test(name))) || isMatch;
  };
}

function parseHook(definition: unknown, event: HookEvent, source: string): Hook {
  const { type = 'command', command, timeout, example } = isObject(definition) ? definition : {};
  if (type !== 'command') return invalidHook(event, source, `hooks of type ${JSON.stringify(type)} are not supported`);
  if (typeof command !== 'string' || command.trim() === '') return invalidHook(event, source, 'it has no command');
  const requestedMs = typeof timeout === 'number' && timeout > 0 ? timeout * 1000 : defaultTimeoutMs;
  const { tool, input = {} } = isObject(example) ? example : {};
  return {
    ...emptyHook(event, source),
    command,
    timeoutMs: Math.min(requestedMs, maxTimeoutMs),
    ...(typeof tool === 'string' ? { example: { tool, input } } : {}),
  };
}
