// The names, shortcut keys and icons of the screens.
import type { IconName } from '../text/icon-shapes.ts';
import type { Screen } from './router.ts';

/** What the navigation, the palette and the list of shortcuts say about a screen. */
export type ScreenLabel = { readonly name: string; readonly key: string; readonly icon: IconName };

/** The labels by screen. */
export const screenLabels: Readonly<Record<Screen, ScreenLabel>> = {
  ask: { name: 'Ask', key: 'a', icon: 'ask' },
  runs: { name: 'Runs', key: 'r', icon: 'runs' },
  sessions: { name: 'Sessions', key: 's', icon: 'sessions' },
  approvals: { name: 'Approvals', key: 'p', icon: 'approvals' },
  verification: { name: 'Verification', key: 'v', icon: 'verification' },
  fleet: { name: 'Fleet', key: 'f', icon: 'fleet' },
  releases: { name: 'Releases', key: 'l', icon: 'releases' },
  health: { name: 'Health', key: 'h', icon: 'health' },
  budgets: { name: 'Budgets', key: 'b', icon: 'budgets' },
  scorecard: { name: 'Scorecard', key: 'c', icon: 'scorecard' },
};
