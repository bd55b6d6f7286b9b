// Egress lockdown: when private data and untrusted text are both in a session, a call that can carry data out needs an approval for each place and each source of private data.
import type { FlowState } from './flow-state.ts';
import { findPrivateTexts } from './private-texts.ts';
import type { FlowCall, FlowSource, LabelledValue, ToolDeclaration } from './types.ts';
import { findWayOut } from './ways-out.ts';

/** A source of texts or data, with the number of its results. */
export type ConditionSource = { readonly source: FlowSource; readonly results: number };

/** What came into a session: two of the three conditions of the lethal trifecta. The third one is a way out. */
export type TrifectaConditions = {
  readonly private: readonly ConditionSource[];
  readonly untrusted: readonly ConditionSource[];
};

/** Names a source: the tool, and what it read. */
const sourceKey = ({ tool, of = '' }: FlowSource): string => `${tool} ${of}`.trim();

/** The values for which a call needs an approval because it can carry private data out: one for each place and source that the user did not name or approve. */
export function findEgress(
  state: FlowState,
  tools: ReadonlyMap<string, ToolDeclaration>,
  call: FlowCall,
  values: readonly LabelledValue[],
): readonly LabelledValue[] {
  // The call is looked at first: most calls carry nothing out, and are decided without the session.
  const way = findWayOut(state, tools.get(call.tool), call, values);
  // The label of the session decides, not the text of the call: a secret can be encoded or divided.
  if (!way || !state.hasUntrusted || way.isTyped) return [];
  const sources = new Map(listPrivateSources(state, tools).map((source) => [sourceKey(source), source]));
  const unnamed = [...sources].filter(([, source]) => !way.isNamed(source));
  return way.destinations.flatMap((destination) =>
    unnamed.flatMap(([key, source]): readonly LabelledValue[] => {
      const value = `${destination} < ${key}`;
      return state.isApprovedValue('egress', value)
        ? []
        : [{ parameter: destination, role: 'egress', value, label: 'unknown', source }];
    }),
  );
}

/** The sources of private data: by declarations, names and files, then by what the texts hold. */
function listPrivateSources(state: FlowState, tools: ReadonlyMap<string, ToolDeclaration>): readonly FlowSource[] {
  const declared = new Set(state.privateSources.map(({ call }) => call));
  return [...state.privateSources, ...findPrivateTexts(state, tools).filter(({ call }) => !declared.has(call))];
}

/** The sources of private data and of untrusted text, the latest first. */
export function readTrifecta(state: FlowState, tools: ReadonlyMap<string, ToolDeclaration>): TrifectaConditions {
  return {
    private: countSources(listPrivateSources(state, tools)),
    untrusted: countSources(state.entries.flatMap((entry) => (entry.type === 'untrusted' ? [entry.source] : []))),
  };
}

function countSources(sources: readonly FlowSource[]): readonly ConditionSource[] {
  const found = new Map<string, { source: FlowSource; calls: Set<string> }>();
  for (const source of sources.toReversed()) {
    const key = sourceKey(source);
    const known = found.get(key);
    if (known) known.calls.add(source.call);
    else found.set(key, { source, calls: new Set([source.call]) });
  }
  return [...found.values()].map(({ source, calls }) => ({ source, results: calls.size }));
}
