// A tool call in the timeline: its input, approvals and result, as events change them.
import type { ApprovalPreview, Event, FilePart, Json, ToolCallPart } from '../../../src/core/index.ts';

/** The state of a call. */
export type TimelineCall = {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly invalid?: string;
  /** Its approvals, in order. */
  readonly approvals: readonly TimelineApproval[];
  readonly started?: string;
  readonly result?: {
    readonly outcome: string;
    readonly text: string;
    readonly data?: Json;
    readonly files: readonly FilePart[];
    readonly ms: number;
  };
};

/** An approval and its answer. */
export type TimelineApproval = {
  readonly question: string;
  readonly kind?: 'unknown-outcome' | 'client-tool';
  readonly raised: string;
  /** What the call would do, as the server computed it. */
  readonly preview?: ApprovalPreview;
  readonly answer?: { readonly allowed: boolean; readonly happened: boolean; readonly by?: string };
};

/** Creates the call of a message. */
export const createTimelineCall = (part: ToolCallPart): TimelineCall => ({
  id: part.id,
  tool: part.tool,
  input: part.input,
  approvals: [],
  ...(part.invalid === undefined ? {} : { invalid: part.invalid }),
});

/** An event of a call. */
export type CallEvent = Event & { type: 'approval-requested' | 'approval-resolved' | 'tool-started' | 'tool-ended' };

/** Returns a call with an event of it. */
export function reduceCall(call: TimelineCall, event: CallEvent): TimelineCall {
  switch (event.type) {
    case 'approval-requested': {
      const { question, time: raised, kind, preview } = event;
      const ask = { question, raised, ...(kind ? { kind } : {}), ...(preview ? { preview } : {}) };
      return { ...call, approvals: [...call.approvals, ask] };
    }
    case 'approval-resolved': {
      const last = call.approvals.at(-1);
      if (!last) return call;
      const { allowed, happened = false, by } = event;
      const answer = { allowed, happened, ...(by === undefined ? {} : { by }) };
      return { ...call, approvals: [...call.approvals.slice(0, -1), { ...last, answer }] };
    }
    case 'tool-started':
      return { ...call, started: event.time, ...(event.input === undefined ? {} : { input: event.input }) };
    case 'tool-ended': {
      const { outcome, text, data, files = [], ms } = event;
      return { ...call, result: { outcome, text, files, ms, ...(data === undefined ? {} : { data }) } };
    }
  }
}

/** Whether the client executes the call. */
export const isClientSideCall = ({ started, approvals, result }: TimelineCall): boolean =>
  started !== undefined && !result && approvals.some(({ answer, kind }) => !answer && kind === 'client-tool');

/** The pending approval of a call. */
export const getPendingApproval = (call: TimelineCall): TimelineApproval | undefined => {
  const last = call.approvals.at(-1);
  return call.result || last?.answer || isClientSideCall(call) ? undefined : last;
};
