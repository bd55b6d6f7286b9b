// Extensions: objects that add tools, rules, gates, stops, checks, reminders and providers to an agent.
import type { Check, Gate, NamedView, Reminder, Renderer, Rule, Stop, Tool } from '../core/index.ts';
import type { ProviderFactory } from '../providers/index.ts';

/** What an extension adds to an agent. */
export type Extension = {
  readonly tools?: readonly Tool[];
  readonly rules?: readonly Rule[];
  /** The views that its rules, gates and stops read. Views with the same name are one view. */
  readonly views?: readonly NamedView<unknown>[];
  readonly renderers?: readonly Renderer[];
  readonly gates?: readonly Gate[];
  readonly stops?: readonly Stop[];
  readonly checks?: readonly Check[];
  readonly reminders?: readonly Reminder[];
  readonly providers?: Readonly<Record<string, ProviderFactory>>;
};

/** Merges extensions in order. */
export function mergeExtensions(extensions: readonly Extension[]): Required<Extension> {
  return {
    tools: extensions.flatMap((each) => each.tools ?? []),
    rules: extensions.flatMap((each) => each.rules ?? []),
    views: [...new Map(extensions.flatMap((each) => each.views ?? []).map((view) => [view.name, view])).values()],
    renderers: extensions.flatMap((each) => each.renderers ?? []),
    gates: extensions.flatMap((each) => each.gates ?? []),
    stops: extensions.flatMap((each) => each.stops ?? []),
    checks: extensions.flatMap((each) => each.checks ?? []),
    reminders: extensions.flatMap((each) => each.reminders ?? []),
    providers: Object.assign({}, ...extensions.map((each) => each.providers ?? {})) as Record<string, ProviderFactory>,
  };
}
