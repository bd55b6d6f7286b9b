// Collects the texts of spans, if content is captured: the messages added since the previous request, answers, arguments and results.
import type { Event, Json, Message, MessagePart } from '../core/index.ts';
import type { SpanContent, SpanKind } from './span.ts';

/** The max characters of texts that wait for the next request. */
const maxPendingChars = 1_000_000;

/** Collects texts event by event, and returns those of a span when it ends. */
export class ContentCollector {
  #system: string | undefined;
  #added: Json[] = [];
  #chars = 0;
  #answer: Json | undefined;
  readonly #calls = new Map<string, { arguments?: Json; result?: string }>();
  readonly #explanations = new Map<string, string>();

  /** Adds the texts of an event. */
  on(event: Event): void {
    if (event.type === 'epoch-started') this.#system = event.system;
    if (event.type === 'input-received') this.#add({ role: 'user', parts: event.parts });
    if (event.type === 'turn-ended') this.#answer = toGenAiMessage(event.message, event.finishReason);
    if (event.type !== 'tool-ended') return;
    const call = this.#calls.get(event.call);
    if (call) call.result = event.text;
    const part = {
      type: 'tool-result',
      id: event.call,
      tool: '',
      text: event.text,
      failed: event.outcome !== 'ok',
    } as const;
    this.#add({ role: 'tool', parts: [part] });
  }

  /** Keeps the arguments of a call. */
  startCall(call: string, input: Json | undefined): void {
    this.#calls.set(call, input === undefined ? {} : { arguments: input });
  }

  /** Keeps why a gate or a check decided as it did. */
  explain(spanId: string, why: string | undefined): void {
    if (why !== undefined) this.#explanations.set(spanId, why);
  }

  /** Returns the texts of a span that ends, and forgets them. */
  take(kind: SpanKind, spanId: string, call: string | undefined): SpanContent | undefined {
    if (kind === 'tool' && call !== undefined) {
      const texts = this.#calls.get(call);
      this.#calls.delete(call);
      return texts;
    }
    if (kind === 'model') {
      const content = {
        ...(this.#system === undefined ? {} : { system: this.#system }),
        input: this.#added,
        ...(this.#answer === undefined ? {} : { output: [this.#answer] }),
      };
      [this.#system, this.#added, this.#answer, this.#chars] = [undefined, [], undefined, 0];
      return content;
    }
    const explanation = this.#explanations.get(spanId);
    this.#explanations.delete(spanId);
    return explanation === undefined ? undefined : { explanation };
  }

  #add(message: Message): void {
    const json = toGenAiMessage(message);
    this.#chars += JSON.stringify(json).length;
    if (this.#chars <= maxPendingChars) this.#added.push(json);
  }
}

/** A message in the form of the GenAI conventions. */
function toGenAiMessage({ role, parts }: Message, finishReason?: string): Json {
  const converted = parts.flatMap((part): readonly Json[] => {
    const json = toGenAiPart(part);
    return json === undefined ? [] : [json];
  });
  return { role, parts: converted, ...(finishReason === undefined ? {} : { finish_reason: finishReason }) };
}

function toGenAiPart(part: MessagePart): Json | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', content: part.text };
    case 'reasoning':
      return { type: 'reasoning', content: part.text };
    case 'tool-call':
      return { type: 'tool_call', id: part.id, name: part.tool, arguments: part.input };
    case 'tool-result':
      return { type: 'tool_call_response', id: part.id, response: part.text };
    case 'file':
      // The bytes of a file are never exported.
      return { type: 'file', mime_type: part.mediaType };
  }
}
