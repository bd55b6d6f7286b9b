// Listeners for the loss of a process lease: called once other processes have taken over what was held under its token.

/** The listeners of a process, by lease token. */
export type LeaseLossListeners = {
  /** Calls the listener once, when the lease of this token is lost; soon, if it is lost already. Returns a function that removes the listener. */
  readonly onLost: (token: string, listener: () => void) => () => void;
  /** Calls and removes the listeners of a token. */
  readonly notifyLost: (token: string) => void;
};

/** Creates an empty list; `currentToken` returns the token that is held now. */
export function createLeaseLossListeners(currentToken: () => string | undefined): LeaseLossListeners {
  const entries = new Set<{ readonly token: string; readonly listener: () => void }>();
  return {
    onLost(token, listener) {
      const entry = { token, listener };
      entries.add(entry);
      if (token !== currentToken()) queueMicrotask(() => entries.delete(entry) && listener());
      return () => entries.delete(entry);
    },
    notifyLost(token) {
      for (const entry of entries) {
        if (entry.token !== token) continue;
        entries.delete(entry);
        entry.listener();
      }
    },
  };
}
