// The interface of gates, which decide whether a tool call may run, and what a decision names as its source.
import type { ApprovalPreview } from './approval-preview.ts';
import type { Fact } from './fact.ts';
import type { Json } from './json.ts';
import type { RunState, ToolCall } from './state.ts';

/** What denied a call or asked about it: the kind of gate, and its name where it has one. */
export type DecisionSource = {
  readonly kind: 'rule' | 'hook' | 'policy' | 'permission' | 'flow' | 'dlp' | 'user';
  readonly name?: string;
  /** The hook that denied the call also ended the run. */
  readonly endsRun?: boolean;
};

/** What a gate did to decide, such as a request to a model; recorded as an annotation before the call starts. */
export type GateAnnotation = Pick<Fact & { type: 'annotation-added' }, 'key' | 'value' | 'spent'>;

/** The decision of a gate about a call. */
export type Decision = { readonly annotations?: readonly GateAnnotation[] } & (
  | { readonly type: 'allow' }
  | {
      readonly type: 'ask';
      /** What the user approves. An approval counts for this text only, so it must identify the call. */
      readonly question: string;
      readonly by?: DecisionSource;
      /** What the call would do, for a view. */
      readonly preview?: ApprovalPreview;
    }
  | { readonly type: 'deny'; readonly reason: string; readonly by?: DecisionSource }
  | { readonly type: 'rewrite'; readonly input: Json }
);

/** Decides whether a call may run. Every path asks all gates; one that throws, or returns no valid decision, denies. */
export type Gate = (call: ToolCall, state: RunState) => Decision | Promise<Decision>;
