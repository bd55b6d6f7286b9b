// The spans of a trace as the log gives them, before they are named for an exporter or a screen.
import type { Json, Usage } from '../core/index.ts';

/** What a span measures. `request` is a model request that is no turn, such as one for a title or a review. */
export type SpanKind =
  | 'workflow'
  | 'step'
  | 'run'
  | 'turn'
  | 'model'
  | 'tool'
  | 'gate'
  | 'check'
  | 'compaction'
  | 'request';

/** The decision of a gate: what it found, and what happened to the call. */
export type GateDetails = {
  /** The kind of gate, such as `policy`; `harness` if the log does not name one. */
  readonly component: string;
  /** The name of the rule, hook or policy. */
  readonly name?: string;
  readonly verdict: 'deny' | 'modify' | 'escalate';
  /** What happened after the verdict; absent while the user has not answered. */
  readonly action?: 'allow' | 'block' | 'modify';
  /** What answered a question: the user, or another name in the log. */
  readonly by?: string;
};

/** What is known of a span besides its times. Which fields are set depends on the kind. */
export type SpanDetails = {
  readonly run?: string;
  readonly turn?: number;
  readonly agent?: string;
  readonly stopReason?: string;
  readonly isSubagent?: boolean;
  /** The model that was asked for, and the one that answered. */
  readonly requestModel?: string;
  readonly responseModel?: string;
  readonly provider?: string;
  readonly host?: string;
  readonly finishReason?: string;
  readonly usage?: Usage;
  readonly usd?: number;
  /** The provider sent no plausible counts: `usd` is an estimate. */
  readonly isEstimated?: boolean;
  /** The history of this request was compacted. */
  readonly isCompacted?: boolean;
  readonly tool?: string;
  readonly call?: string;
  readonly key?: string;
  readonly mcpServer?: string;
  readonly outcome?: string;
  readonly gate?: GateDetails;
  readonly check?: { readonly name: string; readonly verdict: string; readonly unconfirmed?: number };
  readonly step?: { readonly id: string; readonly status: string };
};

/** Text of a span; recorded only if content is captured. */
export type SpanContent = {
  readonly system?: string;
  readonly input?: Json;
  readonly output?: Json;
  readonly arguments?: Json;
  readonly result?: string;
  /** Why a gate or a check decided as it did. */
  readonly explanation?: string;
};

/** Something that happened during a span. */
export type SpanEvent = {
  readonly name: 'retry' | 'evaluation' | 'answer-rejected';
  readonly time: number;
  readonly attributes: Readonly<Record<string, string | number>>;
};

/** A span. Times are milliseconds since 1970; `end` is absent while it lasts. The ids are derived from the log, so that every export has the same. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  /** The parent is a span of another program. */
  readonly hasRemoteParent?: boolean;
  readonly tracestate?: string;
  readonly session: string;
  readonly kind: SpanKind;
  readonly name: string;
  readonly start: number;
  readonly end?: number;
  /** A short type of error, such as `provider/rate-limited` or `denied`. */
  readonly error?: string;
  readonly errorMessage?: string;
  readonly details: SpanDetails;
  readonly events?: readonly SpanEvent[];
  readonly content?: SpanContent;
};
