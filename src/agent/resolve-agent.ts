// From what a user gives to the parts a loop runs on, with the defaults that every way in shares.
import type { ResolvedAgent, Provider, Reminder, Tool } from '../core/index.ts';
import { preserveUserMessages } from '../rules/compaction/preserve-user-messages.ts';
import { summarizingCompactor } from '../rules/compaction/summarize.ts';
import { createToolRegistry } from './tool-registry.ts';

/** What the parts of an agent are made from. */
export type ResolveAgentOptions = Partial<
  Pick<
    ResolvedAgent,
    | 'rules'
    | 'views'
    | 'renderers'
    | 'maxNoteTokens'
    | 'gates'
    | 'stops'
    | 'checks'
    | 'settings'
    | 'limits'
    | 'outputSchema'
    | 'compactor'
    | 'resolveToolName'
  >
> & {
  readonly provider: Provider;
  /** Byte-identical in every request of every run. */
  readonly system: string;
  /** All tools, hidden ones too. */
  readonly tools?: readonly Tool[];
  readonly reminders?: readonly Reminder[];
};

/** The parts of an agent; what is not given is empty, and a conversation that fills most of the window is summarised; no compactor may lose what the user said. */
export function resolveAgent(options: ResolveAgentOptions): ResolvedAgent {
  const { provider, system, tools = [], rules = [], gates = [], stops = [], checks = [], settings = {} } = options;
  const { reminders = [], limits, views, renderers, maxNoteTokens, outputSchema, compactor, resolveToolName } = options;
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
    ...(views ? { views } : {}),
    ...(renderers ? { renderers } : {}),
    ...(maxNoteTokens === undefined ? {} : { maxNoteTokens }),
    compactor: compactor ? preserveUserMessages(compactor) : summarizingCompactor(),
  };
}
