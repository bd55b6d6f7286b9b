// Types of the responses about releases.
import type { HealthRate } from './health-types.ts';

/** A release; `by` is absent for a key with a tenant. */
export type Release = {
  readonly id: string;
  readonly name: string;
  readonly created: string;
  readonly by?: string;
  readonly files: number;
  readonly tools: number;
  readonly model?: string;
  readonly use?: 'current' | 'canary' | 'previous';
};

/** A change of the releases in use; `by` and `reason` are absent for a key with a tenant. */
export type ReleaseChange = {
  readonly seq: number;
  readonly time: string;
  readonly action: 'canary-started' | 'activated' | 'rejected' | 'rolled-back';
  readonly release: string;
  readonly by?: string;
  readonly share?: number;
  readonly reason?: string;
};

/** The canary, the results of its runs and of those of the current release, and what is decided. */
export type Canary = {
  readonly release: string;
  readonly share: number;
  readonly since: string;
  readonly decision: 'continue' | 'activate' | 'roll-back';
  readonly reason: string;
  readonly results: { readonly canary: HealthRate; readonly current: HealthRate };
};

/** The response of GET /api/releases. */
export type ReleaseReport = {
  readonly releases: readonly Release[];
  readonly totalReleases: number;
  readonly canary?: Canary;
  readonly history: readonly ReleaseChange[];
  readonly totalChanges: number;
  readonly rollback?: { readonly release: string; readonly to?: string };
  readonly problems: readonly string[];
};
