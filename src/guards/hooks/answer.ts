// What a hook said, from its exit code and its words; what cannot be understood is trouble, and never a yes.
import { isObject, truncateMiddle, type JsonObject } from '../../core/index.ts';
import type { HookEvent } from './hook.ts';
import type { HookRan } from './run.ts';

/** What a hook said. */
export type HookAnswer = {
  /** It gave no answer, and why. */
  readonly trouble?: string;
  /** It objects, and why. */
  readonly block?: string;
  readonly permission?: 'allow' | 'ask';
  readonly reason?: string;
  readonly input?: JsonObject;
  /** Words for the model. */
  readonly context?: string;
  /** The run is to end, and why. */
  readonly stop?: string;
  /** Words for the person. */
  readonly message?: string;
};

/** Events at which plain words of a hook are words for the model. */
const speaking: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'SessionStart']);
const mostWords = 10_000;
const decision = /"(?:hookSpecificOutput|permissionDecision|decision|continue)"\s*:/;

/** The answer of a hook that was run at this event. */
export function answerOf(event: HookEvent, { code, out, err, trouble }: HookRan): HookAnswer {
  if (trouble !== undefined) return { trouble };
  const words = truncateMiddle(err.trim(), mostWords);
  if (code === 2) return { block: words || 'It gave no reason.' };
  if (code !== 0) return { trouble: `it ended with code ${code}${words ? `: ${words}` : ''}` };
  const said = out.trim();
  if (!said.startsWith('{')) {
    if (speaking.has(event)) return said ? { context: truncateMiddle(said, mostWords) } : {};
    // Whoever wrote it meant a decision, and it would be lost.
    return decision.test(said) ? { trouble: 'it answered with JSON among other words' } : {};
  }
  let data: unknown;
  try {
    data = JSON.parse(said);
  } catch {
    return { trouble: 'it answered with what is not JSON' };
  }
  return isObject(data) ? judged(data as JsonObject) : { trouble: 'it answered with what is no object' };
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? truncateMiddle(value, mostWords) : undefined;

function judged(data: JsonObject): HookAnswer {
  const more = isObject(data['hookSpecificOutput']) ? data['hookSpecificOutput'] : {};
  const reason = text(more['permissionDecisionReason']) ?? text(data['reason']);
  const given = more['permissionDecision'] ?? data['permissionDecision'] ?? data['decision'];
  const verdict = verdictOf(given, reason);
  if ('trouble' in verdict) return verdict;
  const context = text(more['additionalContext']) ?? text(data['additionalContext']);
  const input = more['updatedInput'] ?? data['updatedInput'];
  if (input !== undefined && !isObject(input)) return { trouble: 'its updatedInput is no object' };
  const message = text(data['systemMessage']);
  return {
    ...verdict,
    ...(context === undefined ? {} : { context }),
    ...(input === undefined ? {} : { input }),
    ...(data['continue'] === false ? { stop: text(data['stopReason']) ?? reason ?? 'It gave no reason.' } : {}),
    ...(message === undefined ? {} : { message }),
  };
}

function verdictOf(given: unknown, reason: string | undefined): HookAnswer {
  const why = reason === undefined ? {} : { reason };
  if (given === undefined || given === null) return why;
  if (given === 'block' || given === 'deny') return { block: reason ?? 'It gave no reason.' };
  if (given === 'approve' || given === 'allow') return { permission: 'allow', ...why };
  if (given === 'ask') return { permission: 'ask', ...why };
  return { trouble: `it decided ${JSON.stringify(given).slice(0, 100)}, which is no decision` };
}
