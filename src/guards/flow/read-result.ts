// Labels the parts of a tool result: fields that the declaration of the tool names as written by third parties are untrusted, other short fields are trusted.
import { isObject, type Json } from '../../core/index.ts';
import { valueTokens, type FlowEntry, type FlowState } from './flow-state.ts';
import { parseStructure } from './parse-structure.ts';
import { listRecords } from './record-choices.ts';
import { listFields, type RecordFields } from './trusted-records.ts';
import type { FlowCall, FlowSource, LabelledValue, OutputDeclaration, ToolDeclaration } from './types.ts';

/** A field above this length is untrusted: third parties can fill long fields. */
const maxTrustedChars = 200;
/** A longer text is compared with no trusted field. */
const maxComparedChars = 10_000;
/** A result with more fields is untrusted as a whole. */
const maxFields = 50_000;

/** Whether the labels of the values of a call decide how far its result can be trusted. */
export const dependsOnInput = (output: OutputDeclaration): boolean =>
  output !== 'untrusted' && output !== 'none' && output !== 'user';

type FieldKind = 'trusted' | 'untrusted' | 'identity';

/**
 * Returns the entries of a result. Fields are those of the text, or of `data` if the text has none. It is untrusted, unless it was trusted before, if a value of the call is untrusted, or was found nowhere although untrusted text was seen: a model can have decoded it.
 */
export function readResult(
  state: FlowState,
  call: FlowCall,
  text: string,
  { output = 'untrusted', private: isPrivate = false }: Pick<ToolDeclaration, 'output' | 'private'>,
  values: readonly Pick<LabelledValue, 'label'>[],
  data?: Json,
): readonly FlowEntry[] {
  const source: FlowSource = { tool: call.tool, call: call.id };
  const entries: FlowEntry[] = isPrivate && text.trim() !== '' ? [{ type: 'private', source }] : [];
  if (output === 'none') return entries;
  if (output === 'user') return text.trim() === '' ? entries : [...entries, { type: 'user', text }];
  const isTainted =
    dependsOnInput(output) &&
    values.some(({ label }) => label === 'untrusted' || (label === 'unknown' && state.hasUntrusted));
  const value = output === 'untrusted' ? undefined : parseStructure(text);
  if (value === undefined) {
    // Fields are declared, and the text has none: it cannot be told which part of it is trusted.
    const isLong = text.length > maxTrustedChars;
    const kind = output === 'trusted' && !isTainted && !isLong ? 'trusted' : 'untrusted';
    for (const entry of readLeaf(state, text, '', kind, source))
      entries.push(entry.type === 'trusted' ? { ...entry, isText: true } : entry);
    if (output === 'untrusted' || (!isObject(data) && !Array.isArray(data))) return entries;
  }
  const trustedPaths = typeof output === 'object' ? output.trusted : undefined;
  const leaves: FlowEntry[] = [];
  // What the user's own words look up is what the user named.
  const isNamed = values.some(({ label }) => label === 'user');
  const isComplete = visit(value ?? (data as Json), '', isTainted || trustedPaths ? 'untrusted' : 'trusted', undefined);
  return [...entries, ...(isComplete ? leaves : readLeaf(state, text, '', 'untrusted', source))];

  function visit(each: Json, field: string, kind: FieldKind, of: RecordFields | undefined): boolean {
    if (leaves.length > maxFields) return false;
    if (Array.isArray(each)) {
      const records = kind === 'trusted' ? listRecords(each as readonly Json[], isUntrusted) : undefined;
      if (records) leaves.push({ type: 'records', records });
      const isChoice = each.length > 1 && !isNamed;
      return each.every((item, i) =>
        visit(
          item as Json,
          `${field}[${i}]`,
          kind,
          isChoice ? [...(of ?? []), ...listFields(item as Json, isUntrusted)] : of,
        ),
      );
    }
    if (isObject(each))
      return Object.entries(each).every(([key, item]) => {
        leaves.push(...readLeaf(state, key, field, kind, source));
        const inner = field === '' ? key : `${field}.${key}`;
        if (kind === 'untrusted') return visit(item, inner, isTrustedPath(inner) ? 'trusted' : kind, of);
        return visit(item, inner, kind === 'trusted' ? kindOf(key) : kind, of);
      });
    if (each !== null) leaves.push(...readLeaf(state, String(each), field, kind, source, of));
    return true;
  }

  function isTrustedPath(field: string): boolean {
    return !isTainted && trustedPaths?.includes(field.replaceAll(/\[\d+\]/g, '').replace(/^\./, '')) === true;
  }

  function isUntrusted(key: string): boolean {
    return kindOf(key) === 'untrusted';
  }

  function kindOf(key: string): FieldKind {
    if (typeof output !== 'object') return 'trusted';
    return output.untrusted?.includes(key) ? 'untrusted' : output.identity?.includes(key) ? 'identity' : 'trusted';
  }
}

function readLeaf(
  state: FlowState,
  text: string,
  field: string,
  kind: FieldKind,
  source: FlowSource,
  of?: RecordFields,
): readonly FlowEntry[] {
  if (text.trim() === '') return [];
  const isTrusted =
    kind === 'trusted' ? text.length <= maxTrustedChars : kind === 'identity' && state.isFromUser(valueTokens(text));
  if (isTrusted) return state.isInRecord(text, of) ? [] : [{ type: 'trusted', text, ...(of ? { of } : {}) }];
  if (kind === 'untrusted' && text.length <= maxComparedChars && state.isTrustedLeaf(text)) return [];
  return [{ type: 'untrusted', text, source: field === '' ? source : { ...source, field } }];
}
