// From what a user gives to the parts a loop runs on, with the defaults that every way in shares.
import type { AgentParts, Provider, Reminder, Tool } from '../core/index.ts';
import { keeping } from '../rules/compaction/pinned.ts';
import { summarising } from '../rules/compaction/summarising.ts';
import { toolbox } from './toolbox.ts';

/** What the parts of an agent are made from. */
export type PartsOptions = Partial<
  Pick<
    AgentParts,
    | 'rules'
    | 'views'
    | 'renderers'
    | 'noteTokens'
    | 'gates'
    | 'stops'
    | 'checks'
    | 'settings'
    | 'answer'
    | 'compact'
    | 'alias'
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
export function agentParts(options: PartsOptions): AgentParts {
  const { provider, system, tools = [], rules = [], gates = [], stops = [], checks = [], settings = {} } = options;
  const { reminders = [], views, renderers, noteTokens, answer, compact, alias } = options;
  return {
    provider,
    system,
    tools: toolbox(tools),
    rules,
    gates,
    stops,
    checks,
    settings,
    reminders,
    ...(answer ? { answer } : {}),
    ...(alias ? { alias } : {}),
    ...(views ? { views } : {}),
    ...(renderers ? { renderers } : {}),
    ...(noteTokens === undefined ? {} : { noteTokens }),
    compact: compact ? keeping(compact) : summarising(),
  };
}
