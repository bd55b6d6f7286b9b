// The protections of the simulated environment that planted bugs remove, one at a time.

/** The protections by name. */
export const protections = {
  budget: 'The store reserves an amount that the budget does not allow.',
  reserved: 'The store does not count reserved amounts.',
  fence: 'The store accepts an append of a writer that lost its session.',
  'append-order': 'The store accepts an append that does not follow the last event.',
  'empty-append': 'An append of nothing does not check the fence.',
  durable: 'A durable write can be lost.',
  'lease-expiry': 'An expired lease is not taken over.',
  'lost-claim': 'A run whose claim got no reply stays claimed.',
  'session-order': 'Runs of one session are handled at the same time.',
  'known-run': 'A run that is enqueued again starts again.',
  wake: 'A run that waits is not woken.',
  'unread-message': 'A run ends although it has not read a message.',
  'clear-position': 'The inbox is cleared up to the last message instead of the last one that was read.',
  'kill-switch': 'Workers read a kill switch that is always off.',
  'check-outcome': 'A tool says that its effect did not happen.',
  'idempotency-key': 'An idempotent tool ignores its key.',
  'idempotent-flag': 'A tool that is not idempotent says that it is.',
  approval: 'A tool that needs an approval does not ask for it.',
  'plan-order': 'A step of a plan counts as done when it has started.',
} as const;

/** The name of a protection. */
export type Protection = keyof typeof protections;
