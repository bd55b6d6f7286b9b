// What a builder of spans needs besides the events of its session.
import type { SpanContext } from './ids.ts';
import type { SpanRecorderOptions } from './span-recorder.ts';

/** What a builder needs besides the events. */
export type TraceBuilderOptions = SpanRecorderOptions & {
  /** The name of the agent; `fairlead` by default. */
  readonly agent?: string;
  /** Returns the span of the tool call that started a sub-agent, by the key of the call. */
  readonly findParent?: (key: string) => SpanContext | undefined;
  /** Decides whether a run is recorded; by default it is, unless its caller says that it is not. */
  readonly sample?: (traceId: string, parent: SpanContext | undefined) => boolean;
  /** The model of the session, for a builder that starts in the middle of a log. */
  readonly model?: ModelInfo;
};

/** The model of an epoch. */
export type ModelInfo = { readonly model: string; readonly provider?: string; readonly host?: string };
