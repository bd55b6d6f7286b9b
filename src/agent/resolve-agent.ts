// Resolves agent options to what the loop runs on, with the defaults of Agent and Harness.
import type { Check, NamedView, ResolvedAgent, Provider, Reminder, Tool } from '../core/index.ts';
import { defaultCompactor, preserveUserMessages } from '../rules/compaction/index.ts';
import { createToolRegistry } from './tool-registry.ts';

/** The options of `resolveAgent`. */
export type ResolveAgentOptions = Partial<
  Pick<
    ResolvedAgent,
    | 'rules'
    | 'views'
    | 'renderers'
    | 'spotlight'
    | 'maxNoteTokens'
    | 'gates'
    | 'stops'
    | 'checks'
    | 'settings'
    | 'limits'
    | 'outputSchema'
    | 'compactor'
    | 'resolveToolName'
    | 'trace'
  >
> & {
  /** The model: an object with a `stream` function, such as `openProvider` returns. */
  readonly provider: Provider;
  /** The system prompt, byte-identical in every request of every run. */
  readonly system: string;
  /** All tools, including deferred ones. */
  readonly tools?: readonly Tool[];
  /** Called before each turn; the text is appended to the request. */
  readonly reminders?: readonly Reminder[];
};

/** The resolved agent. Absent parts are empty. By default a conversation that fills most of the context window is summarized; no compactor may drop user messages. */
export function resolveAgent(options: ResolveAgentOptions): ResolvedAgent {
  const { provider, system, tools = [], rules = [], gates = [], stops = [], checks = [], settings = {} } = options;
  const {
    reminders = [],
    limits,
    renderers,
    spotlight,
    maxNoteTokens,
    outputSchema,
    compactor,
    resolveToolName,
    trace,
  } = options;
  const views = joinViews(options.views, checks);
  return {
    provider,
    system,
    tools: createToolRegistry(tools),
    rules,
    gates,
    stops,
    checks,
    settings,
    reminders,
    ...(limits ? { limits } : {}),
    ...(outputSchema ? { outputSchema } : {}),
    ...(resolveToolName ? { resolveToolName } : {}),
    ...(trace ? { trace } : {}),
    ...(views ? { views } : {}),
    ...(renderers ? { renderers } : {}),
    ...(spotlight ? { spotlight } : {}),
    ...(maxNoteTokens === undefined ? {} : { maxNoteTokens }),
    compactor: compactor ? preserveUserMessages(compactor) : defaultCompactor(),
  };
}

/** The views of the agent and those of its checks; views with the same name are one view. */
function joinViews(
  views: readonly NamedView<unknown>[] | undefined,
  checks: readonly Check[],
): readonly NamedView<unknown>[] | undefined {
  const own = checks.flatMap((check) => check.views ?? []);
  if (own.length === 0) return views;
  return [...new Map([...(views ?? []), ...own].map((view) => [view.name, view])).values()];
}
