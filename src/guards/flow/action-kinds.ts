// The kinds of actions: those that cost money, and those that stay in the files, programs and pages of the user.

/** Actions that cost money. */
export const costlyActions: ReadonlySet<string> = new Set(['pay', 'buy']);

/** Actions on files, programs and pages of the user, and no action: the client asks its user about its own tools. */
const localActions: ReadonlySet<string> = new Set([
  '',
  'file-write',
  'file-move',
  'download',
  'delete',
  'commit',
  'run',
  'stop',
  'visit',
  'login',
  'cart',
]);

/** Whether an action changes what others see or what things do, also in a system of the user. Such a change needs words of the user; an action of an unknown name counts as one. */
export const isSharedAction = (action: string): boolean => !localActions.has(action);
