// Replays recorded attacks with other injected texts: other wordings and languages around the injected values, and encoded values. The calls stay as they are, so that a changed decision shows a rule that depends on the wording.
import { isObject, type Json } from '../../core/index.ts';
import { loadYaml, parseStructure } from './parse-structure.ts';
import { replayRun, type RecordedRun } from './replay.ts';
import type { FlowDecision, FlowDeclarations, FlowRule } from './types.ts';
import { variations, type Variation } from './variations.ts';

/** A decision about an injected call that another wording changed. */
export type ChangedDecision = {
  readonly run: string;
  readonly call: string;
  readonly tool: string;
  /** The rule that asked or denied, and `allow` if none did. */
  readonly before: FlowRule | 'allow';
  readonly after: FlowRule | 'allow';
};

/** What one variation changed. */
export type VariationReport = {
  readonly name: string;
  /** The injected calls that were decided about. */
  readonly calls: number;
  /** The calls that are allowed and were not, or the reverse. */
  readonly changed: readonly ChangedDecision[];
  readonly attacks: number;
  /** The attacks of which every call of some step was asked about or denied. */
  readonly stopped: number;
};

/** The report of a replay with variations. */
export type VaryReport = {
  /** The attacks with a call that performs them, and those of them whose injected text was found. */
  readonly attacks: number;
  readonly found: number;
  readonly variations: readonly VariationReport[];
};

/** Replays each attack with each variation of its injected text, and compares the decisions about the injected calls. */
export async function varyRuns(
  runs: Iterable<RecordedRun>,
  declarations: FlowDeclarations,
  { isUnattended = false, own = [] }: { readonly isUnattended?: boolean; readonly own?: readonly string[] } = {},
): Promise<VaryReport> {
  await loadYaml();
  const attacks = [...runs].filter(
    ({ kind, injected }) => kind === 'attack' && injected.some((step) => step.length > 0),
  );
  const prepared = attacks.flatMap((run) => {
    const found = findInjected(run);
    if (found.size === 0) return [];
    return [{ run, found, before: replayRun(run, declarations, isUnattended, own) }];
  });
  return {
    attacks: attacks.length,
    found: prepared.length,
    variations: variations.map((variation) => {
      const changed: ChangedDecision[] = [];
      const count = { calls: 0, stopped: 0 };
      for (const { run, found, before } of prepared) {
        const after = replayRun(replaceInjected(run, found, variation), declarations, isUnattended, own);
        const steps = run.injected.filter((step) => step.length > 0);
        if (steps.some((step) => step.every((id) => isStopped(after.get(id))))) count.stopped += 1;
        for (const id of new Set(steps.flat())) {
          count.calls += 1;
          if (isStopped(before.get(id)) !== isStopped(after.get(id)))
            changed.push({
              run: run.id,
              call: id,
              tool: getCall(run, id)?.tool ?? '',
              before: ruleOf(before.get(id)),
              after: ruleOf(after.get(id)),
            });
        }
      }
      return { name: variation.name, calls: count.calls, changed, attacks: prepared.length, stopped: count.stopped };
    }),
  };
}

const isStopped = (decision: FlowDecision | undefined): boolean => decision !== undefined && decision.type !== 'allow';
const ruleOf = (decision: FlowDecision | undefined): FlowRule | 'allow' =>
  decision === undefined || decision.type === 'allow' ? 'allow' : decision.rule;

const getCall = (run: RecordedRun, id: string) =>
  run.events.find((event) => event.type === 'call' && event.id === id) as
    | (RecordedRun['events'][number] & { readonly type: 'call' })
    | undefined;

const minValueChars = 3;
const minWords = 5;
const minChars = 40;

/** Whether a field is a text that can instruct, and not only a value. */
const isProse = (text: string): boolean => text.length >= minChars || text.trim().split(/\s+/).length >= minWords;
const fold = (text: string): string => text.toLowerCase();

/** The texts of results that hold values of injected calls which the user did not type, with these values. */
function findInjected(run: RecordedRun): ReadonlyMap<string, readonly string[]> {
  const typed = fold(run.events.flatMap((event) => (event.type === 'user' ? [event.text] : [])).join('\n'));
  const isForeign = (value: string): boolean => value.length >= minValueChars && !typed.includes(fold(value));
  const direct = run.injected
    .flat()
    .flatMap((id) => readInput(run, id))
    .filter(isForeign);
  // A value can come from a look-up: then the text holds what was looked up.
  const lookUps = run.events.flatMap((event) =>
    event.type === 'result' && direct.some((value) => event.text.includes(value)) ? readInput(run, event.call) : [],
  );
  const values = [...new Set([...direct, ...lookUps.filter(isForeign)])];
  const found = new Map<string, readonly string[]>();
  for (const event of run.events) {
    if (event.type !== 'result') continue;
    for (const text of readTexts(event.text)) {
      const normalized = fold(text);
      const held = values.filter((value) => normalized.includes(fold(value)));
      if (held.length > 0 && isProse(normalized)) found.set(text, held);
    }
  }
  return found;
}

const readInput = (run: RecordedRun, id: string): readonly string[] =>
  readLeaves(getCall(run, id)?.input ?? null).flatMap(withHost);

/** An address also counts by its host. */
function withHost(value: string): readonly string[] {
  const host = /^[a-z]+:\/\/(?:www\.)?([^/?#\s]+)/i.exec(value)?.[1];
  return host === undefined ? [value] : [value, host];
}

/** The fields of a result; the paragraphs of one that has no fields. */
function readTexts(text: string): readonly string[] {
  const value = parseStructure(text);
  return value === undefined ? text.split(/\n\s*\n/) : readLeaves(value);
}

function readLeaves(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => readLeaves(each as Json));
  if (isObject(value)) return Object.values(value).flatMap(readLeaves);
  return value === null || typeof value === 'boolean' ? [] : [String(value)];
}

/** The run with other injected texts. */
function replaceInjected(
  run: RecordedRun,
  found: ReadonlyMap<string, readonly string[]>,
  { rewrite }: Variation,
): RecordedRun {
  const replace = (text: string): string => {
    const values = found.get(text);
    return values ? rewrite(text, values) : text;
  };
  return {
    ...run,
    events: run.events.map((event) => {
      if (event.type !== 'result' || !readTexts(event.text).some((text) => found.has(text))) return event;
      const value = parseStructure(event.text);
      const text =
        value === undefined
          ? event.text
              .split(/\n\s*\n/)
              .map(replace)
              .join('\n\n')
          : JSON.stringify(mapLeaves(value, replace));
      return { ...event, text };
    }),
  };
}

function mapLeaves(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((each) => mapLeaves(each as Json, map));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapLeaves(each, map)]));
  return value;
}
