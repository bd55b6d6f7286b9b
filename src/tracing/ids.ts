// Derives the ids of traces and spans from the ids in a log, so that every export of a session has the same ids.
import type { TraceContext, TraceParent } from '../core/index.ts';
import { parseTraceparent } from '../core/index.ts';

/** The context of a span: its trace, its own id, and whether it is recorded. */
export type SpanContext = TraceParent & { readonly tracestate?: string };

/** The hash of the parts of a name. It can be continued: the part that many names begin with is hashed once. */
export class NameHash {
  readonly #a: number;
  readonly #b: number;

  private constructor(a: number, b: number) {
    this.#a = a;
    this.#b = b;
  }

  /** Starts with a part. */
  static of(part: string): NameHash {
    return NameHash.#addText(0xdeadbeef | 0, 0x41c6ce57, part);
  }

  /** Adds a line feed and a part. */
  add(part: string | number): NameHash {
    return NameHash.#addText(Math.imul(this.#a ^ 10, 2654435761), Math.imul(this.#b ^ 10, 1597334677), `${part}`);
  }

  /** Adds a line feed and the digits of a whole number that is not negative, as `add` does. */
  addNumber(value: number): NameHash {
    let a = Math.imul(this.#a ^ 10, 2654435761);
    let b = Math.imul(this.#b ^ 10, 1597334677);
    let unit = 1;
    while (unit * 10 <= value) unit *= 10;
    for (; unit >= 1; unit = Math.floor(unit / 10)) {
      const code = 48 + (Math.floor(value / unit) % 10);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    return new NameHash(a, b);
  }

  /** The hash as the 16 hex digits of a span id. */
  toSpanId(): string {
    const [a, b] = [this.#a, this.#b];
    const low = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    const high = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    // An id of zeros is not valid.
    return formatHex(high, low === 0 && high === 0 ? 1 : low);
  }

  static #addText(first: number, second: number, text: string): NameHash {
    let [a, b] = [first, second];
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    return new NameHash(a, b);
  }
}

/** Returns the id of the span that these parts name in its session. A fast hash is enough: an id must be unique in its trace only. */
export function createSpanId(first: string, ...more: readonly (string | number)[]): string {
  return more.reduce<NameHash>((hash, part) => hash.add(part), NameHash.of(first)).toSpanId();
}

/** The code of the hex digit of four bits of a number: `0` is 48, and `a` is 39 more than the code after `9`. Without a condition, which a processor cannot predict. */
const digitCode = (word: number, shift: number): number => {
  const value = (word >>> shift) & 15;
  return 48 + value + (((9 - value) >> 31) & 39);
};

/** Two numbers of 32 bits as 16 hex digits. All at once: a text that is joined from parts is copied again when its characters are read. */
const formatHex = (high: number, low: number): string =>
  String.fromCharCode(
    digitCode(high, 28),
    digitCode(high, 24),
    digitCode(high, 20),
    digitCode(high, 16),
    digitCode(high, 12),
    digitCode(high, 8),
    digitCode(high, 4),
    digitCode(high, 0),
    digitCode(low, 28),
    digitCode(low, 24),
    digitCode(low, 20),
    digitCode(low, 16),
    digitCode(low, 12),
    digitCode(low, 8),
    digitCode(low, 4),
    digitCode(low, 0),
  );

/** Returns the 32 hex digits of the trace id of a run that no other program started: the hash cyrb128 of bryc. The ids of sessions and runs are random, so that a fast hash of 128 bits is enough. */
export function createTraceId(session: string, run: string): string {
  let [a, b, c, d] = [1779033703, 3144134277 | 0, 1013904242, 2773480762 | 0];
  // Part by part: the characters of a text that was just joined take twice as long to read.
  for (const text of ['fairlead\ntrace\n', session, '\n', run])
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = b ^ Math.imul(a ^ code, 597399067);
      b = c ^ Math.imul(b ^ code, 2869860233);
      c = d ^ Math.imul(c ^ code, 951274213);
      d = a ^ Math.imul(d ^ code, 2716044179);
    }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  a ^= b ^ c ^ d;
  const low = (d ^ a) | 0;
  // An id of zeros is not valid.
  return `${formatHex(a, b ^ a)}${formatHex(c ^ a, low === 0 ? 1 : low)}`;
}

/** Returns the parent that a request named. */
export function getRemoteParent(trace: TraceContext): SpanContext | undefined {
  const parent = parseTraceparent(trace.traceparent);
  return parent && { ...parent, ...(trace.tracestate === undefined ? {} : { tracestate: trace.tracestate }) };
}

/** The parent of the run of a plan step: `plan/step-a-1` belongs to the step `a` of the run `plan`. Undefined for a run that no other run started. */
export function getPlanParent(run: string): { readonly root: string; readonly spanId: string } | undefined {
  const at = run.lastIndexOf('/');
  if (at <= 0) return undefined;
  const [root, name] = [run.slice(0, at), run.slice(at + 1)];
  const step = /^step-(.{1,200})-\d+$/.exec(name)?.[1];
  return { root, spanId: step === undefined ? workflowSpanId(root) : stepSpanId(root, step) };
}

/** The id of the span of a whole plan. */
export const workflowSpanId = (session: string): string => createSpanId(session, 'workflow');

/** The id of the span of one step of a plan. */
export const stepSpanId = (session: string, step: string): string => createSpanId(session, 'step', step);

/** The id of the span of a tool call, from its idempotency key, which is unique. */
export const toolSpanId = (key: string): string => toolHash.add(key).toSpanId();

const toolHash = NameHash.of('tool');
