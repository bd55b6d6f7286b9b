// Runs a session to its result, with the events of the run as a stream: `run` is the same path without a listener.
import { randomUUID } from 'node:crypto';
import { FairleadError, messageText, type Chunk } from '../core/index.ts';
import { runWithApprovals } from './approval-loop.ts';
import type { RunOptions } from './run-options.ts';
import { assertUserInput, type UserInput } from './session-facts.ts';
import { messageStopReason, toRunResult, type MessageStopReason, type RunResult } from './result.ts';
import { createOutputSchema, parseOutput, type SchemaLike, type SchemaOutput } from './schema.ts';
import type { Session } from './session.ts';
import { createEventTranslator, type StreamEvent } from './stream-events.ts';

/** The type of `result.object`: that of the schema of the run, otherwise that of the agent. */
export type RunOutput<S, AgentOutput> = S extends SchemaLike ? SchemaOutput<S> : AgentOutput;

/** Runs to the result. Each event goes to `emit` before the promise resolves. */
export async function executeRun(
  session: Session,
  input: UserInput | undefined,
  options: RunOptions,
  emit?: (event: StreamEvent) => void,
): Promise<RunResult> {
  if (input !== undefined) assertUserInput(input);
  const { outputSchema: requested, ...rest } = options;
  const outputSchema = requested === undefined ? session.agent.outputSchema : createOutputSchema(requested);
  const runId = options.runId ?? session.state.run ?? randomUUID();
  const translator = emit && createEventTranslator(emit, () => session.state.model, session.state.calls);
  let stopReason: MessageStopReason | undefined;
  let reasoningTokens: number | undefined;
  const unsubscribe = session.subscribe((event, state) => {
    translator?.event(event);
    session.agent.onEvent?.(event, state);
    if (event.type !== 'turn-ended') return;
    stopReason = messageStopReason(event);
    if (event.usage.reasoning !== undefined) reasoningTokens = (reasoningTokens ?? 0) + event.usage.reasoning;
  });
  const onChunk = (chunk: Chunk): void => {
    translator?.chunk(chunk);
    options.onChunk?.(chunk);
  };
  try {
    for (const note of (await notesForInput(session, input)) ?? []) await session.steer(note, { by: 'hook' });
    const state = await runWithApprovals(session, input, {
      onApproval: session.agent.onApproval,
      ...rest,
      runId,
      ...(outputSchema ? { outputSchema } : {}),
      ...(translator ? { onChunk } : {}),
    });
    const result = toRunResult(state, { runId, sessionId: state.session, stopReason, reasoningTokens });
    return outputSchema && result.status === 'success'
      ? { ...result, object: parseOutput(outputSchema, result.text) }
      : result;
  } finally {
    unsubscribe();
  }
}

async function notesForInput(session: Session, input: UserInput | undefined): Promise<readonly string[] | undefined> {
  if (input === undefined) return undefined;
  return session.agent.onInput?.(
    typeof input === 'string' ? input : messageText({ role: 'user', parts: input }),
    session.state,
  );
}

/**
 * A run as it happens: iterate over it for every event, or over `textStream` for the text alone, once.
 * Events are buffered until they are read. Leaving the loop early cancels the run.
 */
export class RunStream<Output = unknown> implements AsyncIterable<StreamEvent<Output>> {
  /** The result; it does not depend on whether the events are read. */
  readonly result: Promise<RunResult<Output>>;
  readonly #stop = new AbortController();
  #buffer: StreamEvent<Output>[] = [];
  #wake = (): void => {};
  #consumed = false;
  #ended = false;

  constructor(
    execute: (emit: (event: StreamEvent) => void, signal: AbortSignal) => Promise<RunResult>,
    signal?: AbortSignal,
  ) {
    const either = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    this.result = execute((event) => this.#push(event as StreamEvent<Output>), either) as Promise<RunResult<Output>>;
    this.result.then(
      (result) => this.#end({ type: 'result', result }),
      () => this.#end(),
    );
  }

  /** The text of the answers as it arrives, without tool calls and reasoning. */
  get textStream(): AsyncIterable<string> {
    return textOf(this);
  }

  /** Stops the run; `result` then has the reason `cancelled`. */
  cancel(): void {
    this.#stop.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent<Output>, void, undefined> {
    if (this.#consumed)
      throw new FairleadError('stream/consumed', 'The events of a run can be read once.', { blame: 'user' });
    this.#consumed = true;
    try {
      for (;;) {
        const batch = this.#buffer;
        this.#buffer = [];
        yield* batch;
        if (this.#buffer.length) continue;
        if (this.#ended) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      await this.result;
    } finally {
      this.cancel();
      await this.result.catch(() => {});
    }
  }

  #push(event: StreamEvent<Output>): void {
    this.#buffer.push(event);
    this.#wake();
  }

  #end(last?: StreamEvent<Output>): void {
    this.#ended = true;
    if (last) this.#push(last);
    else this.#wake();
  }
}

async function* textOf(events: AsyncIterable<StreamEvent>): AsyncGenerator<string, void, undefined> {
  for await (const event of events)
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
}
