// The flow policy in another program's loop: labels come from the caller's messages, and each call is judged before the caller gets it.
import {
  readView,
  USE_TOOL,
  type Gate,
  type Json,
  type NamedView,
  type RunState,
  type Tool,
} from '../../core/index.ts';
import type {
  FlowDeclarations,
  FlowEntry,
  FlowFold,
  FlowMode,
  FlowState,
  ToolDeclaration,
} from '../../guards/flow/index.ts';
import { createCallerFlowView, type CallerFlowState, type UntrustedText } from './view.ts';

/** The flow policy of a bridge. */
export type BridgeFlowOptions = {
  /** Default `ask`: `askUser` decides; without it, what would be asked is denied. `off` removes the policy. */
  readonly mode?: FlowMode | 'off';
  /** What the tools of the caller do. Tools that are not named are declared by their name and schema. If they cannot be read, no call is allowed. */
  readonly declarations?: FlowDeclarations | (() => Promise<FlowDeclarations | undefined>);
  /** Values that identify the user, such as an address. */
  readonly own?: readonly string[];
  /** Folders that the user works in; the first one is the working directory. A path inside counts as written by the user. */
  readonly roots?: readonly string[];
  /** The score of the detector above which a question calls a text suspicious; default `defaultDetectorThreshold`. No decision depends on it. */
  readonly detectorThreshold?: number;
};

/** The policy of one conversation. */
export type CallerFlow = {
  readonly view: NamedView<CallerFlowState>;
  readonly gate: Gate;
  /** The tools of the latest request. */
  setTools(tools: readonly Tool[]): void;
  /** All labels of a conversation, for a history that the caller rewrote. */
  serializeLabels(state: RunState): Promise<Json>;
  /** The texts of third parties. */
  listUntrusted(state: RunState): Promise<readonly UntrustedText[]>;
  /** The words of a message of a rewritten history that count as the user's: all of them, some, or none. */
  readWords(state: RunState, text: string, isLast: boolean): Promise<string>;
};

type LoadedPolicy = {
  readonly fold: FlowFold;
  readonly gate: Gate;
  readonly declare: (tool: Tool) => ToolDeclaration;
  readonly read: (state: RunState) => FlowState;
  readonly serialize: (entries: readonly FlowEntry[]) => Json;
  readonly splitTokens: (text: string) => readonly string[];
};

/** Creates the policy; undefined if it is switched off. */
export function createCallerFlow(
  { mode = 'ask', declarations: given, detectorThreshold, ...options }: BridgeFlowOptions,
  hasUser: boolean,
): CallerFlow | undefined {
  if (mode === 'off') return undefined;
  const getMode = (): FlowMode => (mode === 'ask' && !hasUser ? 'deny' : mode);
  const tools = new Map<string, ToolDeclaration>();
  const specs = new Map<string, { readonly key: string; readonly tool: Tool }>();
  let policy: LoadedPolicy | undefined;
  let loading: Promise<LoadedPolicy> | undefined;
  const view = createCallerFlowView(
    (system) => policy?.serialize(listValues(system).map((text) => ({ type: 'trusted', text }))) ?? null,
  );

  async function load(): Promise<LoadedPolicy> {
    const flow = await import('../../guards/flow/index.ts');
    const known = typeof given === 'function' ? await given() : given;
    const { actions } = known ? flow.mergeDeclarations(flow.builtinDeclarations, known) : flow.builtinDeclarations;
    const declarations: FlowDeclarations = { tools, actions };
    if (known) await flow.loadYaml();
    const fold = flow.createFlowFold({ declarations, ...options });
    const readLog = (state: RunState): CallerFlowState['log'] => readView(state, view).log;
    const loaded: LoadedPolicy = {
      fold,
      gate: flow.createFlowGate(readLog, {
        fold,
        declarations,
        mode: getMode,
        ...(detectorThreshold === undefined ? {} : { detectorThreshold }),
      }),
      declare: (tool) => known?.tools.get(tool.name) ?? flow.declareTool(tool),
      read: (state) => fold.read(readLog(state)).state,
      serialize: (entries) => flow.serializeFlowState(flow.FlowState.create({}, entries)),
      splitTokens: flow.valueTokens,
    };
    for (const { tool } of specs.values()) tools.set(tool.name, loaded.declare(tool));
    policy = loaded;
    return loaded;
  }
  const loadOnce = (): Promise<LoadedPolicy> => (loading ??= load());

  return {
    view,
    async gate(call, state) {
      if (getMode() === 'observe') return { type: 'allow' };
      // In our own loop a call of this name is that of another tool. What it is in the caller's loop is not known.
      if (call.tool === USE_TOOL)
        return getMode() === 'ask'
          ? { type: 'ask', question: `Run ${USE_TOOL} with ${JSON.stringify(call.input)}?`, by: { kind: 'flow' } }
          : { type: 'deny', reason: `${USE_TOOL} cannot be judged, so it was not run.`, by: { kind: 'flow' } };
      const { gate, read } = await loadOnce();
      const decision = await gate(call, state);
      const rule = decision.type === 'ask' || decision.type === 'deny' ? decision.by?.name : undefined;
      // Callers have tools without schemas. Until a text of a third party is there, no value can come from one.
      const isUndeclared = rule === 'undeclared-tool' || rule === 'undeclared-parameter';
      return isUndeclared && !read(state).hasUntrusted ? { type: 'allow' } : decision;
    },
    setTools(given) {
      for (const tool of given) {
        const key = JSON.stringify([tool.input, tool.effect]);
        if (specs.get(tool.name)?.key === key) continue;
        specs.set(tool.name, { key, tool });
        if (policy) tools.set(tool.name, policy.declare(tool));
      }
    },
    async serializeLabels(state) {
      const { read, serialize } = await loadOnce();
      return serialize(dropRepeated(read(state).entries));
    },
    async listUntrusted(state) {
      const { read } = await loadOnce();
      return read(state).entries.flatMap((entry) =>
        entry.type === 'untrusted' ? [{ text: entry.text, source: entry.source.tool }] : [],
      );
    },
    async readWords(state, text, isLast) {
      const { read, splitTokens } = await loadOnce();
      const labels = read(state);
      if (!labels.hasUntrusted || labels.userTexts.includes(text)) return text;
      if (!isLast) return '';
      // What only third parties wrote does not become the user's by being in a new message of an old conversation.
      return text.replaceAll(/\S+/g, (word) => {
        const tokens = splitTokens(word);
        const isForeign = (token: string): boolean =>
          labels.findUntrusted([token]) !== undefined && !labels.isKnownToken(token);
        return tokens.some(isForeign) ? '' : word;
      });
    },
  };
}

/** A caller that sends the same texts again and again must not make the state grow. The last approval or refusal counts, so that they stay in order. */
function dropRepeated(entries: readonly FlowEntry[]): readonly FlowEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    if (entry.type !== 'user' && entry.type !== 'trusted' && entry.type !== 'untrusted') return true;
    const key = `${entry.type} ${entry.text}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** A text of the configuration, and the addresses, paths, hosts and numbers in it: a value of a call is compared with a whole one. */
function listValues(text: string): readonly string[] {
  const words = text.match(/\S+/g) ?? [];
  const values = words
    .map((word) => word.replace(/^[\p{P}\p{S}]+/u, '').replace(/[\p{P}\p{S}]+$/u, ''))
    .filter((word) => word.length > 2 && /[@/:.\d]/.test(word));
  return [...new Set([text, ...values])];
}
