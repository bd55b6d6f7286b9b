// Items that a client names instead of saying them again: what they say is looked up in the runs that made them.
import { isObject, type FleetRun, type Json, type JsonObject } from '../../core/index.ts';
import { formatOutputItems } from './responses-items.ts';
import { throwInvalidParam } from './errors.ts';

/** The request with each item in full. */
export async function resolveItemReferences(
  request: JsonObject,
  runOf: (id: string) => Promise<FleetRun | undefined>,
): Promise<JsonObject> {
  const { input } = request;
  if (!Array.isArray(input) || !(input as readonly Json[]).some(isReference)) return request;
  const items = (input as readonly Json[]).map(async (item, i): Promise<Json> => {
    if (!isReference(item)) return item;
    const id = String(item['id']);
    const [, run = ''] = /^msg_(.+)$/.exec(id) ?? /^fc_(.+)_c[0-9a-z]{8}$/.exec(id) ?? [];
    const made = await runOf(run);
    const { text = '', clientToolCalls: calls = [] } = made?.outcome ?? {};
    const found =
      made && formatOutputItems({ run: made, text, calls, finish: 'stop' }).find((each) => each['id'] === id);
    return found ?? throwInvalidParam(`input[${i}]`, `Item with id '${id.slice(0, 200)}' not found.`);
  });
  return { ...request, input: await Promise.all(items) };
}

/** Clients leave the type out where the id says all. */
const isReference = (item: Json): item is JsonObject =>
  isObject(item) &&
  typeof item['id'] === 'string' &&
  (item['type'] === 'item_reference' || Object.keys(item).length === 1);
