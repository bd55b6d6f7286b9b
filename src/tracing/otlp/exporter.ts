// The export queue: collects items in batches, sends one batch at a time, tries again with growing delays, and counts what is lost. It never blocks its caller.
import type { OtlpMessage, SendResult } from './send.ts';

/** What was exported so far. */
export type ExportCounts = {
  readonly added: number;
  readonly delivered: number;
  /** Not delivered: the queue was full, the receiver refused them, or it could not be reached in time. */
  readonly lost: number;
};

/** How a queue sends. */
export type ExportQueueOptions<Item> = {
  readonly send: (message: OtlpMessage, signal: AbortSignal) => Promise<SendResult>;
  readonly encode: (items: readonly Item[]) => OtlpMessage;
  /** Called before items are sent; it adds those that are not in the queue yet. */
  readonly collect?: () => void;
  readonly maxQueue: number;
  readonly maxBatch: number;
  /** How long items wait for more. */
  readonly delayMs: number;
  /** Attempts at a batch before it is lost; 5 by default. */
  readonly maxAttempts?: number;
  /** The first delay after a failed attempt, which doubles; 1000 by default. */
  readonly backoffMs?: number;
  /** Whether a flush tries as often and waits as long as other attempts; false by default, because a flush is usually the end of the program. */
  readonly isPatient?: boolean;
};

const maxBackoffMs = 30_000;
/** The longest time that a receiver may ask to wait. */
const maxRetryAfterMs = 60_000;
/** While the program ends there is no time for long waits. */
const [flushAttempts, flushBackoffMs] = [2, 100];

/** A bounded queue to one receiver. */
export class ExportQueue<Item> {
  readonly #options: ExportQueueOptions<Item>;
  #queue: Item[] = [];
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Wakes a wait between attempts. */
  #wake: (() => void) | undefined;
  #isFlushing = false;
  /** `collect` has items to add. */
  #hasMore = false;
  #stop = new AbortController();
  #counts = { added: 0, delivered: 0, lost: 0 };
  #lastProblem: string | undefined;

  constructor(options: ExportQueueOptions<Item>) {
    this.#options = options;
  }

  /** What was exported so far. */
  get counts(): ExportCounts {
    return { ...this.#counts };
  }

  /** Items that are neither delivered nor lost. */
  get pending(): number {
    return this.#counts.added - this.#counts.delivered - this.#counts.lost;
  }

  /** Why the last items were lost or an attempt failed. */
  get lastProblem(): string | undefined {
    return this.#lastProblem;
  }

  /** Adds an item; if the queue is full, it is lost. */
  add(item: Item): void {
    this.#counts.added++;
    if (this.#queue.length >= this.#options.maxQueue) return this.#lose(1, this.#lastProblem ?? 'the queue was full');
    this.#queue.push(item);
    if (this.#sending) return;
    if (this.#queue.length >= this.#options.maxBatch) this.#start();
    else this.#startTimer();
  }

  /** Says that `collect` has items to add: they are sent after the delay. */
  schedule(): void {
    this.#hasMore = true;
    if (!this.#sending) this.#startTimer();
  }

  /** Sends everything that waits, until the deadline; what is not delivered then is lost. Resolves with what was exported, and never rejects. */
  async flush(deadlineMs: number): Promise<ExportCounts> {
    if (this.pending === 0) return this.counts;
    this.#isFlushing = true;
    const deadline = setTimeout(() => {
      this.#stop.abort();
      this.#wake?.();
    }, deadlineMs);
    this.#wake?.();
    do {
      this.#start();
      await this.#sending;
    } while (this.#queue.length > 0 && !this.#stop.signal.aborted);
    clearTimeout(deadline);
    if (this.#queue.length > 0) this.#lose(this.#queue.length, this.#lastProblem ?? 'there was no time left');
    this.#queue = [];
    this.#isFlushing = false;
    this.#stop = new AbortController();
    if (this.#hasMore) this.#startTimer();
    return this.counts;
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => this.#start(), this.#options.delayMs).unref();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#hasMore = false;
    this.#options.collect?.();
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if ((this.#queue.length > 0 || this.#hasMore) && !this.#isFlushing) this.#startTimer();
    });
  }

  /** Sends full batches, and in a flush the rest too. */
  async #sendAll(): Promise<void> {
    // Not in the call that adds an item: it is part of a run.
    await new Promise(setImmediate);
    // The rest of an hour without traffic is one batch, whatever its size.
    let isFirst = true;
    while (this.#queue.length > 0 && !this.#stop.signal.aborted) {
      if (!isFirst && !this.#isFlushing && this.#queue.length < this.#options.maxBatch) return;
      isFirst = false;
      await this.#sendBatch(this.#queue.splice(0, this.#options.maxBatch));
    }
  }

  async #sendBatch(items: readonly Item[]): Promise<void> {
    const { send, encode, maxAttempts = 5, backoffMs = 1000, isPatient = false } = this.#options;
    let message: OtlpMessage;
    try {
      message = encode(items);
    } catch (error) {
      return this.#lose(items.length, `they could not be encoded: ${String(error)}`);
    }
    for (let attempt = 1; ; attempt++) {
      const result = await send(message, this.#stop.signal);
      if (result.type === 'accepted') {
        const rejected = Math.min(items.length, result.partial?.rejected ?? 0);
        this.#counts.delivered += items.length - rejected;
        if (rejected > 0) this.#lose(rejected, `the receiver rejected them: ${result.partial?.message ?? ''}`);
        return undefined;
      }
      this.#lastProblem = result.why;
      const isShort = this.#isFlushing && !isPatient;
      const isLast = attempt >= (isShort ? flushAttempts : maxAttempts);
      if (result.type === 'refused' || isLast || this.#stop.signal.aborted) return this.#lose(items.length, result.why);
      const growing = Math.min(maxBackoffMs, backoffMs * 2 ** (attempt - 1));
      const wait =
        result.retryMs === undefined ? growing * (0.5 + Math.random() / 2) : Math.min(maxRetryAfterMs, result.retryMs);
      await this.#wait(isShort ? Math.min(flushBackoffMs, wait) : wait);
      if (this.#stop.signal.aborted) return this.#lose(items.length, result.why);
    }
  }

  #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise.finally(() => (this.#wake = undefined));
  }

  #lose(count: number, why: string): void {
    this.#counts.lost += count;
    this.#lastProblem = why;
  }
}
