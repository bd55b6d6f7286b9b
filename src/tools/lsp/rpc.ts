// JSON-RPC over a message stream: each request gets one response, or fails at a close, an abort or a timeout.
import { FairleadError, isObject, raceAbort, escapeInvisibleLine, type Json } from '../../core/index.ts';

/** The timeout and abort signal of a request. */
export type RequestTimeout = { readonly signal: AbortSignal; readonly timeoutMs: number };

/** One side of a JSON-RPC connection. */
export type RpcConnection = {
  request(method: string, params: Json, wait: RequestTimeout): Promise<unknown>;
  notify(method: string, params: Json): void;
  /** Handles a received message. */
  receive(value: unknown): void;
  /** Fails all pending requests. */
  close(why: string): void;
};

/** Handlers of the server's messages. */
export type RpcHandlers = {
  /** Returns the result of a request; undefined if it is not supported. */
  onRequest(method: string, params: unknown): Json | undefined;
  onNotification(method: string, params: unknown): void;
};

type PendingRequest = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/** Creates a connection to a named server over a send function. */
export function createRpcConnection(
  name: string,
  send: (message: object) => void,
  incoming: RpcHandlers,
): RpcConnection {
  const pending = new Map<number, PendingRequest>();
  let last = 0;
  let ended: string | undefined;

  function settle(id: number, value: Readonly<Record<string, unknown>>): void {
    const waiting = pending.get(id);
    // A response to a cancelled or unknown request.
    if (!waiting) return;
    pending.delete(id);
    const { error } = value;
    if (error === undefined || error === null) return waiting.resolve(value['result']);
    const { message } = isObject(error) ? error : {};
    const words = typeof message === 'string' ? escapeInvisibleLine(message.slice(0, 300)) : 'without a reason';
    waiting.reject(lspError('lsp/refused', `The language server ${name} returned an error: ${words}`));
  }

  function reply(id: string | number, method: string, params: unknown): void {
    const result = incoming.onRequest(method, params);
    send(result === undefined ? { id, error: { code: -32_601, message: 'not supported' } } : { id, result });
  }

  return {
    async request(method, params, { signal, timeoutMs }) {
      if (ended !== undefined) throw serverGoneError(name, ended);
      const id = ++last;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      pending.set(id, { resolve, reject });
      const timer = setTimeout(
        () =>
          reject(lspError('lsp/silent', `The language server ${name} did not respond within ${timeoutMs / 1000} s.`)),
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
    receive(value) {
      if (!isObject(value) || ended !== undefined) return;
      const { id, method, params } = value;
      if (typeof method !== 'string') return typeof id === 'number' ? settle(id, value) : undefined;
      if (typeof id === 'string' || typeof id === 'number') reply(id, method, params);
      else incoming.onNotification(method, params);
    },
    close(why) {
      ended ??= why;
      for (const each of pending.values()) each.reject(serverGoneError(name, why));
      pending.clear();
    },
  };
}

/** Creates the error of a language server, which becomes the tool result. */
export const lspError = (code: string, message: string, hint?: string): FairleadError =>
  new FairleadError(code, message, { blame: 'tool', ...(hint === undefined ? {} : { hint }) });

const serverGoneError = (name: string, why: string): FairleadError =>
  lspError('lsp/broken', `The language server ${name} cannot be used: ${why}.`);
