// A response that was made before, as it stands now.
import { isObject, type JsonObject } from '../../core/index.ts';
import { refusalOf, refused } from '../faults.ts';
import type { Asked } from '../route.ts';
import { runOf } from './beginning.ts';
import { toldOf } from './ending.ts';
import { errorOf } from './errors.ts';
import { formatOf } from './format.ts';
import { emptyFor, endedAs } from './responses-items.ts';

/** The response of this name. */
export async function responseNamed(asked: Asked, id: string): Promise<JsonObject> {
  const run = await runOf(asked, id.replace(/^resp_/, ''));
  if (!run) throw refused('server/not-found', `There is no response ${id}.`, { param: 'response_id' });
  const { answer, model } = run.settings;
  const response = emptyFor(typeof model === 'string' ? { model } : {}, run);
  if (run.status === 'queued') return { ...response, status: 'queued' };
  if (run.status === 'running') return response;
  try {
    const format = isObject(answer) ? formatOf(answer) : undefined;
    return endedAs(response, await toldOf(asked.place, run, format, (text) => text));
  } catch (error) {
    const { code = null, message = '' } = errorOf(refusalOf(error));
    return { ...response, status: 'failed', error: { code, message } };
  }
}
