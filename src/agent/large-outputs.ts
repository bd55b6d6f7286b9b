// Inline or cached: what is small goes into the conversation, what is large is kept under a handle and shown as a snapshot.
import { inspect } from 'node:util';
import { isToolOutput, toolOutput, toJson, type Tool } from '../core/index.ts';
import { typedArrayName } from './session-cache-codec.ts';
import { handleNameOfTool } from './session-cache-name.ts';
import { tableColumns, isPlainObject, unwrapContainer } from './session-cache-snapshot.ts';
import type { SessionCache } from './session-cache.ts';

/** Characters of a text that still go inline. */
const maxInlineText = 500;
/** Characters of a list's or an object's JSON that still go inline. */
const maxInlineJson = 2000;
/** Items of a list or an object that still go inline. */
const maxInlineItems = 20;

/** A value as a model reads it: itself if it is small, otherwise the handle it was kept under and its snapshot. */
export const formatOutput = (value: unknown, cache: SessionCache, name?: string): string =>
  presentValue(value, cache, name).text;

/** A tool whose results are shown inline if they are small and kept in the cache if they are not. Of an output, that goes for its data. */
export function cachedTool(tool: Tool, cache: SessionCache): Tool {
  const name = handleNameOfTool(tool.name);
  return {
    ...tool,
    ...(tool.validate ? { validate: (input) => tool.validate?.(input) } : {}),
    async execute(input, context) {
      const value: unknown = await tool.execute(input, context);
      if (value === undefined) return undefined;
      if (!isToolOutput(value)) {
        const { text, handle } = presentValue(value, cache, name);
        return handle === undefined ? text : toolOutput({ text, data: { handle } });
      }
      if (value.data === undefined || value.failed) return value;
      const { text, handle } = presentValue(value.data, cache, name);
      return handle === undefined
        ? value
        : { ...value, text: value.text ? `${value.text}\n${text}` : text, data: { handle } };
    },
  };
}

type PresentedValue = { readonly text: string; readonly handle?: string };

function presentValue(value: unknown, cache: SessionCache, name: string | undefined): PresentedValue {
  const given = unwrapSafely(value);
  const keep = (fallback: string): PresentedValue => {
    const handle = cache.put(name ?? fallback, value);
    return { handle, text: `Saved as \`${handle}\`\nSnapshot: ${JSON.stringify(cache.snapshot(handle))}` };
  };
  if (typeof given === 'string') return given.length <= maxInlineText ? { text: given } : keep('text_result');
  if (given === undefined) return { text: '(no output)' };
  if (typeof given !== 'object' || given === null) return { text: inspectText(given) };
  if (typedArrayName(given)) return keep('array');
  const list = Array.isArray(given);
  if (list && tableColumns(given)) return keep('table');
  if (!list && !isPlainObject(given)) return { text: inspectText(given) };
  const items = list ? given.length : Object.keys(given).length;
  const json = items <= maxInlineItems ? JSON.stringify(toJson(given)) : undefined;
  if (json !== undefined && json.length <= maxInlineJson) return { text: json };
  return keep(list ? 'result_list' : 'result_object');
}

/** A value without its container; one that cannot even be looked at is its own text. */
function unwrapSafely(value: unknown): unknown {
  try {
    return unwrapContainer(value);
  } catch (error) {
    return `[unreadable: ${String(error)}]`.slice(0, maxInlineText);
  }
}

/** The text of a scalar or of an object that is nothing we know, cut where text stops being inline. */
function inspectText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' || value === null)
    return String(value);
  try {
    return inspect(value, { depth: 2, breakLength: 100 }).slice(0, maxInlineText).toWellFormed();
  } catch (error) {
    return `[unreadable: ${String(error)}]`.slice(0, maxInlineText);
  }
}
