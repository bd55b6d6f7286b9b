// The kinds of actions: those that cost money, and those that change what others see or what things do.

/** Actions that cost money. */
export const costlyActions: ReadonlySet<string> = new Set(['pay', 'buy']);

/** Actions that change what others see or what things do. Such a change needs words of the user, also if it stays in a system of the user; work on files and commands does not. */
export const sharedActions: ReadonlySet<string> = new Set([
  ...costlyActions,
  'message',
  'change',
  'create',
  'share',
  'invite',
  'book',
  'schedule',
  'upload',
  'request',
]);
