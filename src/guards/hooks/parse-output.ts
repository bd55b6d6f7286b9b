// Parses the exit code and output of a hook. Output that cannot be understood is an error, never an allow.
import { isObject, truncateMiddle, type JsonObject } from '../../core/index.ts';
import type { HookEvent } from './hook.ts';
import type { HookProcessResult } from './hook-process.ts';

/** The parsed output of a hook. */
export type HookOutput = {
  /** Why the hook gave no usable answer. */
  readonly error?: string;
  /** Why the hook blocks. */
  readonly block?: string;
  readonly permission?: 'allow' | 'ask';
  readonly reason?: string;
  readonly input?: JsonObject;
  /** Text for the model. */
  readonly context?: string;
  /** Why the run has to end. */
  readonly stop?: string;
  /** Text for the user. */
  readonly message?: string;
};

/** Events at which plain output of a hook is text for the model. */
const contextEvents: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'SessionStart']);
const maxTextLength = 10_000;
const decisionPattern = /"(?:hookSpecificOutput|permissionDecision|decision|continue)"\s*:/;

/** Parses the output of a hook that ran at this event. */
export function parseHookOutput(event: HookEvent, { code, stdout, stderr, error }: HookProcessResult): HookOutput {
  if (error !== undefined) return { error };
  const words = truncateMiddle(stderr.trim(), maxTextLength);
  if (code === 2) return { block: words || 'It gave no reason.' };
  if (code !== 0) return { error: `it exited with code ${code}${words ? `: ${words}` : ''}` };
  const said = stdout.trim();
  if (!said.startsWith('{')) {
    if (contextEvents.has(event)) return said ? { context: truncateMiddle(said, maxTextLength) } : {};
    // The author intended a decision, and it would be lost.
    return decisionPattern.test(said) ? { error: 'its output is JSON mixed with other text' } : {};
  }
  let data: unknown;
  try {
    data = JSON.parse(said);
  } catch {
    return { error: 'its output is not JSON' };
  }
  return isObject(data) ? parseHookJson(data as JsonObject) : { error: 'its output is not an object' };
}

const optionalText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? truncateMiddle(value, maxTextLength) : undefined;

function parseHookJson(data: JsonObject): HookOutput {
  const more = isObject(data['hookSpecificOutput']) ? data['hookSpecificOutput'] : {};
  const reason = optionalText(more['permissionDecisionReason']) ?? optionalText(data['reason']);
  const given = more['permissionDecision'] ?? data['permissionDecision'] ?? data['decision'];
  const verdict = parseHookDecision(given, reason);
  if ('error' in verdict) return verdict;
  const context = optionalText(more['additionalContext']) ?? optionalText(data['additionalContext']);
  const input = more['updatedInput'] ?? data['updatedInput'];
  if (input !== undefined && !isObject(input)) return { error: 'its updatedInput is not an object' };
  const message = optionalText(data['systemMessage']);
  return {
    ...verdict,
    ...(context === undefined ? {} : { context }),
    ...(input === undefined ? {} : { input }),
    ...(data['continue'] === false ? { stop: optionalText(data['stopReason']) ?? reason ?? 'It gave no reason.' } : {}),
    ...(message === undefined ? {} : { message }),
  };
}

function parseHookDecision(given: unknown, reason: string | undefined): HookOutput {
  const why = reason === undefined ? {} : { reason };
  if (given === undefined || given === null) return why;
  if (given === 'block' || given === 'deny') return { block: reason ?? 'It gave no reason.' };
  if (given === 'approve' || given === 'allow') return { permission: 'allow', ...why };
  if (given === 'ask') return { permission: 'ask', ...why };
  return { error: `it returned ${JSON.stringify(given).slice(0, 100)}, which is not a decision` };
}
