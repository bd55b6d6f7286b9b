// Requests and answers over a stream of messages: each request is answered once, or fails with a sentence at an end, an abort or its time.
import { FairleadError, isObject, raceAbort, escapeInvisibleLine, type Json } from '../../core/index.ts';

/** How long a request may take, and who may end it. */
export type Wait = { readonly signal: AbortSignal; readonly timeoutMs: number };

/** One side of a conversation. */
export type Rpc = {
  request(method: string, params: Json, wait: Wait): Promise<unknown>;
  notify(method: string, params: Json): void;
  /** Hands in what the other side sent. */
  take(value: unknown): void;
  /** The other side is gone: all that waits fails. */
  end(why: string): void;
};

/** What the other side wants of us. */
export type Incoming = {
  /** The result for a request, or nothing where we do not do this. */
  answer(method: string, params: unknown): Json | undefined;
  told(method: string, params: unknown): void;
};

type Pending = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/** A conversation with a server by this name, over a way to send. */
export function rpcOver(name: string, send: (message: object) => void, incoming: Incoming): Rpc {
  const pending = new Map<number, Pending>();
  let last = 0;
  let ended: string | undefined;

  function settle(id: number, value: Readonly<Record<string, unknown>>): void {
    const waiting = pending.get(id);
    // An answer to what was given up, or never asked.
    if (!waiting) return;
    pending.delete(id);
    const { error } = value;
    if (error === undefined || error === null) return waiting.resolve(value['result']);
    const { message } = isObject(error) ? error : {};
    const words = typeof message === 'string' ? escapeInvisibleLine(message.slice(0, 300)) : 'without a reason';
    waiting.reject(fault('lsp/refused', `The language server ${name} refused: ${words}`));
  }

  function reply(id: string | number, method: string, params: unknown): void {
    const result = incoming.answer(method, params);
    send(result === undefined ? { id, error: { code: -32_601, message: 'not supported' } } : { id, result });
  }

  return {
    async request(method, params, { signal, timeoutMs }) {
      if (ended !== undefined) throw gone(name, ended);
      const id = ++last;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      pending.set(id, { resolve, reject });
      const timer = setTimeout(
        () => reject(fault('lsp/silent', `The language server ${name} did not answer within ${timeoutMs / 1000} s.`)),
        timeoutMs,
      );
      send({ id, method, params });
      try {
        return await raceAbort(signal, () => promise);
      } finally {
        clearTimeout(timer);
        if (pending.delete(id) && ended === undefined) send({ method: '$/cancelRequest', params: { id } });
      }
    },
    notify(method, params) {
      if (ended === undefined) send({ method, params });
    },
    take(value) {
      if (!isObject(value) || ended !== undefined) return;
      const { id, method, params } = value;
      if (typeof method !== 'string') return typeof id === 'number' ? settle(id, value) : undefined;
      if (typeof id === 'string' || typeof id === 'number') reply(id, method, params);
      else incoming.told(method, params);
    },
    end(why) {
      ended ??= why;
      for (const each of pending.values()) each.reject(gone(name, why));
      pending.clear();
    },
  };
}

/** An error of a language server, told as the result of a tool. */
export const fault = (code: string, message: string, hint?: string): FairleadError =>
  new FairleadError(code, message, { blame: 'tool', ...(hint === undefined ? {} : { hint }) });

const gone = (name: string, why: string): FairleadError =>
  fault('lsp/broken', `The language server ${name} cannot be used: ${why}.`);
