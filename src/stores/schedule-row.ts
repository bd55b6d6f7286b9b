// The schedule in a row. One that cannot be read comes once, as a run that says so, and holds up no other.
import { isObject, type Schedule } from '../core/index.ts';
import { nextCronTime } from './cron.ts';
import { tryParseJson } from './row-json.ts';

/** The last moment that can be written down. */
const neverMs = 8.64e15;

/** What stands for a run that cannot be read: it is never begun, only ended. */
export const unreadableRun: Schedule['run'] = {
  words: 'What is to be run here cannot be read.',
  notBefore: new Date(neverMs).toISOString(),
};

const textFields = ['kind', 'session', 'tenant', 'parent', 'notBefore'] as const;

/** What a schedule runs, as its row says; nothing where that cannot be read. */
export function parseScheduledRun(text: string): Schedule['run'] | undefined {
  const run = tryParseJson(text);
  if (!isObject(run) || typeof run['words'] !== 'string') return undefined;
  const { priority = 0, settings = {}, notBefore = unreadableRun.notBefore } = run;
  const isText = textFields.every((name) => run[name] === undefined || typeof run[name] === 'string');
  const isTime = !Number.isNaN(Date.parse(String(notBefore)));
  return isText && isTime && typeof priority === 'number' && isObject(settings)
    ? (run as unknown as Schedule['run'])
    : undefined;
}

/** The time after another at which a schedule comes again; never where that cannot be read. */
export function nextScheduledTime(cron: string, after: number): number {
  try {
    return nextCronTime(cron, after);
  } catch {
    return neverMs;
  }
}
