// Changes the open turn of a timeline: annotations of the log, such as retries and verifications, and the texts of checks.
import type { Event } from '../../../src/core/index.ts';
import { isObject } from '../text/call-summary.ts';
import type { AddMark, Timeline, TimelineItem, TimelineRetry } from './timeline.ts';

type TurnItem = Extract<TimelineItem, { type: 'turn' }>;

/** Returns the timeline with a change of its last turn. */
export function updateTurn(now: Timeline, at: string, patch: Partial<TurnItem>): Timeline {
  const index = now.items.findLastIndex((item) => item.type === 'turn');
  const turn = now.items[index];
  if (turn?.type !== 'turn') return now;
  return { ...now, items: now.items.with(index, { ...turn, ...patch, at }) };
}

/** The text of a check replaces the answer, unless the record of a verification already did. */
export function applyVerdictText(
  now: Timeline,
  event: Event & { type: 'check-ended' },
  text: string,
  mark: AddMark,
): Timeline {
  const { verdict, check } = event;
  const marked =
    verdict.type === 'passed'
      ? mark('check', `${check}: passed`, 'good')
      : mark('check', `${check}: ${verdict.type}. ${verdict.why}`, 'bad');
  const last = now.items.findLast((item) => item.type === 'turn');
  return last?.type === 'turn' && last.checked === undefined ? updateTurn(marked, event.id, { checked: text }) : marked;
}

/** The title of the session, what a verification said, and retries of a model request, which belong to the turn that is open. */
export function applyAnnotation(now: Timeline, event: Event & { type: 'annotation-added' }): Timeline {
  const { key, value } = event;
  if (key === 'verify/required') return { ...now, isVerified: value === true };
  if (!isObject(value)) return now;
  const { draft, answer } = value;
  if (key === 'verification' && typeof answer === 'string' && answer !== '' && !/^\s*[[{]/.test(String(draft)))
    return updateTurn(now, event.id, { checked: answer });
  if (key === 'session-labels') return typeof value['title'] === 'string' ? { ...now, title: value['title'] } : now;
  const { attempt, why, held, maxAttempts, waitMs, provider, code } = value;
  if (key !== 'provider-retry' || typeof attempt !== 'number' || typeof why !== 'string') return now;
  const retry: TimelineRetry = {
    attempt,
    why,
    time: event.time,
    isRateLimit: code === 'provider/rate-limited',
    ...(held === true ? { held } : {}),
    ...(typeof maxAttempts === 'number' ? { maxAttempts } : {}),
    ...(typeof waitMs === 'number' ? { waitMs } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
  };
  const last = now.items.findLast((item) => item.type === 'turn');
  return updateTurn(now, event.id, { retries: [...((last?.type === 'turn' && last.retries) || []), retry] });
}
