// Finds texts of a session that hold secrets or personal data with check digits. Read for the first way out, each text once.
import { findPersonalData } from '../dlp/find-personal-data.ts';
import { findSecretPatterns } from '../redaction/patterns.ts';
import type { FlowState, FlowEntry } from './flow-state.ts';
import type { FlowSource, ToolDeclaration } from './types.ts';

/** Kinds of personal data without a check digit: they stand in most texts. */
const plainKinds: ReadonlySet<string> = new Set(['email', 'phone']);

/** A longer text is searched in parts of this size. A part is searched with text before and after it; no secret is longer than the text after it. */
const partChars = 1 << 17;
const charsBefore = 1000;
const charsAfter = 25_000;

/** The kind of the first secret or checked personal data that starts in a part of a text. */
function findDataKind(text: string, from: number): string | undefined {
  if (text.length <= partChars) return findFirstKind(text, () => true);
  const start = Math.max(0, from - charsBefore);
  const part = text.slice(start, from + partChars + charsAfter);
  return findFirstKind(part, (at) => at + start >= from && at + start < from + partChars);
}

const findFirstKind = (text: string, isOwn: (at: number) => boolean): string | undefined =>
  findSecretPatterns(text).find(({ from }) => isOwn(from))?.kind ??
  findPersonalData(text, plainKinds).find(({ from }) => isOwn(from))?.kind;

const known = new WeakMap<FlowEntry, string | false>();

type Tools = ReadonlyMap<string, ToolDeclaration>;

/** Pages of the web are public. */
const isPublic = (tools: Tools, tool: string): boolean =>
  tools.get(tool)?.action === 'visit' || tools.get(tool)?.private === false;

/** Searches the texts that no search has seen, and pauses after each part. */
export function* searchTexts(state: FlowState, tools: Tools): Generator<undefined, void> {
  const { untrustedTexts } = state;
  for (let i = state.searchedTexts; i < untrustedTexts.length; i++) {
    const entry = untrustedTexts[i];
    if (!entry || known.has(entry) || isPublic(tools, entry.source.tool)) continue;
    let kind: string | undefined;
    for (let from = 0; kind === undefined && from < entry.text.length; from += partChars) {
      kind = findDataKind(entry.text, from);
      yield;
    }
    known.set(entry, kind ?? false);
  }
  state.noteSearched();
}

/** The sources of texts that hold such data. */
export function findPrivateTexts(state: FlowState, tools: Tools): readonly FlowSource[] {
  const found = new Map<string, FlowSource>();
  for (const entry of state.untrustedTexts) {
    const { tool, call, of } = entry.source;
    if (found.has(call) || isPublic(tools, tool)) continue;
    const inText = known.get(entry) ?? readKind(entry.text) ?? false;
    known.set(entry, inText);
    // Values can be marked later, so that this is asked each time.
    const kind = inText === false && state.options.isPrivateText?.(entry.text) === true ? 'a private value' : inText;
    if (kind !== false) found.set(call, { tool, call, ...(of === undefined ? {} : { of }), why: `it holds: ${kind}` });
  }
  return [...found.values()];
}

function readKind(text: string): string | undefined {
  let kind: string | undefined;
  for (let from = 0; kind === undefined && from < text.length; from += partChars) kind = findDataKind(text, from);
  return kind;
}
