// Inline or cached: what is small goes into the conversation, what is large is kept under a handle and shown as a snapshot.
import { inspect } from 'node:util';
import { isOutput, output, toJson, type Tool } from '../core/index.ts';
import { arrayName } from './session-cache-codec.ts';
import { nameFrom } from './session-cache-name.ts';
import { columnsOf, isPlain, opened } from './session-cache-snapshot.ts';
import type { SessionCache } from './session-cache.ts';

/** Characters of a text that still go inline. */
const mostInlineText = 500;
/** Characters of a list's or an object's JSON that still go inline. */
const mostInlineJson = 2000;
/** Items of a list or an object that still go inline. */
const mostInlineItems = 20;

/** A value as a model reads it: itself if it is small, otherwise the handle it was kept under and its snapshot. */
export const formatOutput = (value: unknown, cache: SessionCache, name?: string): string =>
  present(value, cache, name).text;

/** A tool whose results are shown inline if they are small and kept in the cache if they are not. Of an output, that goes for its data. */
export function cachedTool(tool: Tool, cache: SessionCache): Tool {
  const name = nameFrom(tool.name);
  return {
    ...tool,
    ...(tool.check ? { check: (input) => tool.check?.(input) } : {}),
    async run(input, context) {
      const value: unknown = await tool.run(input, context);
      if (value === undefined) return undefined;
      if (!isOutput(value)) {
        const { text, handle } = present(value, cache, name);
        return handle === undefined ? text : output({ text, data: { handle } });
      }
      if (value.data === undefined || value.failed) return value;
      const { text, handle } = present(value.data, cache, name);
      return handle === undefined
        ? value
        : { ...value, text: value.text ? `${value.text}\n${text}` : text, data: { handle } };
    },
  };
}

type Presented = { readonly text: string; readonly handle?: string };

function present(value: unknown, cache: SessionCache, name: string | undefined): Presented {
  const given = readable(value);
  const keep = (fallback: string): Presented => {
    const handle = cache.put(name ?? fallback, value);
    return { handle, text: `Saved as \`${handle}\`\nSnapshot: ${JSON.stringify(cache.snapshot(handle))}` };
  };
  if (typeof given === 'string') return given.length <= mostInlineText ? { text: given } : keep('text_result');
  if (given === undefined) return { text: '(no output)' };
  if (typeof given !== 'object' || given === null) return { text: plainText(given) };
  if (arrayName(given)) return keep('array');
  const list = Array.isArray(given);
  if (list && columnsOf(given)) return keep('table');
  if (!list && !isPlain(given)) return { text: plainText(given) };
  const items = list ? given.length : Object.keys(given).length;
  const json = items <= mostInlineItems ? JSON.stringify(toJson(given)) : undefined;
  if (json !== undefined && json.length <= mostInlineJson) return { text: json };
  return keep(list ? 'result_list' : 'result_object');
}

/** A value without its container; one that cannot even be looked at is its own text. */
function readable(value: unknown): unknown {
  try {
    return opened(value);
  } catch (error) {
    return `[unreadable: ${String(error)}]`.slice(0, mostInlineText);
  }
}

/** The text of a scalar or of an object that is nothing we know, cut where text stops being inline. */
function plainText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' || value === null)
    return String(value);
  try {
    return inspect(value, { depth: 2, breakLength: 100 }).slice(0, mostInlineText).toWellFormed();
  } catch (error) {
    return `[unreadable: ${String(error)}]`.slice(0, mostInlineText);
  }
}
