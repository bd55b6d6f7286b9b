// Finds texts of a session that hold secrets or personal data with check digits. Read for the first way out, each text once.
import { findPersonalData } from '../dlp/find-personal-data.ts';
import { findSecretPatterns } from '../redaction/patterns.ts';
import type { FlowState, FlowEntry } from './flow-state.ts';
import type { FlowSource, ToolDeclaration } from './types.ts';

/** Kinds of personal data without a check digit: they stand in most texts. */
const plainKinds: ReadonlySet<string> = new Set(['email', 'phone']);

/** The kind of the first secret or checked personal data in a text. */
const findDataKind = (text: string): string | undefined =>
  findSecretPatterns(text)[0]?.kind ?? findPersonalData(text).find(({ kind }) => !plainKinds.has(kind))?.kind;

const known = new WeakMap<FlowEntry, string | false>();

/** The sources of texts that hold such data. Pages of the web are public. */
export function findPrivateTexts(state: FlowState, tools: ReadonlyMap<string, ToolDeclaration>): readonly FlowSource[] {
  const found = new Map<string, FlowSource>();
  for (const entry of state.entries) {
    if (entry.type !== 'untrusted') continue;
    const { tool, call, of } = entry.source;
    if (found.has(call) || tools.get(tool)?.action === 'visit' || tools.get(tool)?.private === false) continue;
    const inText = known.get(entry) ?? findDataKind(entry.text) ?? false;
    known.set(entry, inText);
    // Values can be marked later, so that this is asked each time.
    const kind = inText === false && state.options.isPrivateText?.(entry.text) === true ? 'a private value' : inText;
    if (kind !== false) found.set(call, { tool, call, ...(of === undefined ? {} : { of }), why: `it holds: ${kind}` });
  }
  return [...found.values()];
}
