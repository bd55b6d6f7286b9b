// Formats tool results: small values inline, large values as a handle of the session cache with a snapshot.
import { inspect } from 'node:util';
import { copyTool, isToolOutput, toolOutput, toJson, type Tool } from '../core/index.ts';
import { typedArrayName } from './session-cache-codec.ts';
import { handleNameOfTool } from './session-cache-name.ts';
import { tableColumns, isPlainObject, unwrapContainer } from './session-cache-snapshot.ts';
import type { SessionCache } from './session-cache.ts';

/** The maximum length of an inline text. */
const maxInlineText = 500;
/** The maximum length of the inline JSON of a list or an object. */
const maxInlineJson = 2000;
/** The maximum number of items of an inline list or object. */
const maxInlineItems = 20;

/** A value as text for the model: the value if it is small, otherwise its handle in the cache and a snapshot. */
export const formatOutput = (value: unknown, cache: SessionCache, name?: string): string =>
  presentValue(value, cache, name).text;

/** A tool whose large results go to the cache. Of a `ToolOutput` the data goes there. */
export function cachedTool(tool: Tool, cache: SessionCache): Tool {
  const name = handleNameOfTool(tool.name);
  return copyTool(tool, {
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
  });
}

type PresentedValue = { readonly text: string; readonly handle?: string };

function presentValue(value: unknown, cache: SessionCache, name: string | undefined): PresentedValue {
  const content = unwrapSafely(value);
  const store = (fallback: string): PresentedValue => {
    const handle = cache.put(name ?? fallback, value);
    return { handle, text: `Saved as \`${handle}\`\nSnapshot: ${JSON.stringify(cache.snapshot(handle))}` };
  };
  if (typeof content === 'string') return content.length <= maxInlineText ? { text: content } : store('text_result');
  if (content === undefined) return { text: '(no output)' };
  if (typeof content !== 'object' || content === null) return { text: inspectText(content) };
  if (typedArrayName(content)) return store('array');
  const list = Array.isArray(content);
  if (list && tableColumns(content)) return store('table');
  if (!list && !isPlainObject(content)) return { text: inspectText(content) };
  const items = list ? content.length : Object.keys(content).length;
  const json = items <= maxInlineItems ? JSON.stringify(toJson(content)) : undefined;
  if (json !== undefined && json.length <= maxInlineJson) return { text: json };
  return store(list ? 'result_list' : 'result_object');
}

/** The value in its container; a text that says so if it cannot be read. */
function unwrapSafely(value: unknown): unknown {
  try {
    return unwrapContainer(value);
  } catch (error) {
    return `[unreadable: ${String(error)}]`.slice(0, maxInlineText);
  }
}

/** A scalar or an unknown object as text, of at most the inline length. */
function inspectText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' || value === null)
    return String(value);
  try {
    return inspect(value, { depth: 2, breakLength: 100 }).slice(0, maxInlineText).toWellFormed();
  } catch (error) {
    return `[unreadable: ${String(error)}]`.slice(0, maxInlineText);
  }
}
