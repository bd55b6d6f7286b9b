// Extensions: objects that add tools, rules, gates, stops, checks, reminders and providers to an agent.
import type { Check, Gate, NamedView, Reminder, Renderer, Rule, Stop, Tool } from '../core/index.ts';
import type { ProviderFactory } from '../providers/index.ts';

/** What an extension adds to an agent. */
export type Extension = {
  /** Tools that the model can call. */
  readonly tools?: readonly Tool[];
  /** Functions of an event and the state that return notes for the model. */
  readonly rules?: readonly Rule[];
  /** The views that its rules, gates and stops read. Views with the same name are one view. */
  readonly views?: readonly NamedView<unknown>[];
  /** Format tool outputs for the model; the first that returns a text is used. */
  readonly renderers?: readonly Renderer[];
  /** Decide about each call before it runs: allow, ask, deny or rewrite. */
  readonly gates?: readonly Gate[];
  /** Stop conditions: end a run from its state. */
  readonly stops?: readonly Stop[];
  /** Verify an answer before the run ends. */
  readonly checks?: readonly Check[];
  /** Called before each turn; the text is appended to the request. */
  readonly reminders?: readonly Reminder[];
  /** Model providers by name, for `model: "name/model"`. */
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
