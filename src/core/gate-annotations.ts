// Parses the annotations of a decision of a gate; few gates have some.
import { isJson, isObject } from './json.ts';
import type { Decision, GateAnnotation } from './ports.ts';
import { parseUsageTotals } from './usage-totals.ts';

/** The annotations of a decision that are well-formed. */
export function parseAnnotations(value: unknown): Pick<Decision, 'annotations'> {
  if (!Array.isArray(value)) return {};
  const annotations = value.flatMap((each: unknown): readonly GateAnnotation[] => {
    const { key, value: noted, spent } = isObject(each) ? each : {};
    if (typeof key !== 'string' || !isJson(noted)) return [];
    return [{ key, value: noted, ...(spent === undefined ? {} : { spent: parseUsageTotals(spent) }) }];
  });
  return annotations.length > 0 ? { annotations } : {};
}
