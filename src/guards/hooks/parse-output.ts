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
  const errorText = truncateMiddle(stderr.trim(), maxTextLength);
  if (code === 2) return { block: errorText || 'It gave no reason.' };
  if (code !== 0) return { error: `it exited with code ${code}${errorText ? `: ${errorText}` : ''}` };
  const output = stdout.trim();
  if (!output.startsWith('{')) {
    if (contextEvents.has(event)) return output ? { context: truncateMiddle(output, maxTextLength) } : {};
    // The author intended a decision, and it would be lost.
    return decisionPattern.test(output) ? { error: 'its output is JSON mixed with other text' } : {};
  }
  let data: unknown;
  try {
    data = JSON.parse(output);
  } catch {
    return { error: 'its output is not JSON' };
  }
  return isObject(data) ? parseHookJson(data as JsonObject) : { error: 'its output is not an object' };
}

const optionalText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? truncateMiddle(value, maxTextLength) : undefined;

function parseHookJson(data: JsonObject): HookOutput {
  const specific = isObject(data['hookSpecificOutput']) ? data['hookSpecificOutput'] : {};
  const reason = optionalText(specific['permissionDecisionReason']) ?? optionalText(data['reason']);
  const value = specific['permissionDecision'] ?? data['permissionDecision'] ?? data['decision'];
  const decision = parseHookDecision(value, reason);
  if ('error' in decision) return decision;
  const context = optionalText(specific['additionalContext']) ?? optionalText(data['additionalContext']);
  const input = specific['updatedInput'] ?? data['updatedInput'];
  if (input !== undefined && !isObject(input)) return { error: 'its updatedInput is not an object' };
  const message = optionalText(data['systemMessage']);
  return {
    ...decision,
    ...(context === undefined ? {} : { context }),
    ...(input === undefined ? {} : { input }),
    ...(data['continue'] === false ? { stop: optionalText(data['stopReason']) ?? reason ?? 'It gave no reason.' } : {}),
    ...(message === undefined ? {} : { message }),
  };
}

function parseHookDecision(value: unknown, reason: string | undefined): HookOutput {
  const withReason = reason === undefined ? {} : { reason };
  if (value === undefined || value === null) return withReason;
  if (value === 'block' || value === 'deny') return { block: reason ?? 'It gave no reason.' };
  if (value === 'approve' || value === 'allow') return { permission: 'allow', ...withReason };
  if (value === 'ask') return { permission: 'ask', ...withReason };
  return { error: `it returned ${JSON.stringify(value).slice(0, 100)}, which is not a decision` };
}
